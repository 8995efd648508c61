// Which file a path stands for, and whether it may be opened.
#include "daemon/server/configuration/file_roots.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace clique::daemon {
namespace {

namespace fs = std::filesystem;
using protocol::FileStatus;
constexpr std::uint8_t kRead = protocol::file_access::kRead;
constexpr std::uint8_t kWrite = protocol::file_access::kWrite;
constexpr std::uint8_t kCreate = protocol::file_access::kCreate;

class FileRootsTest : public testing::Test {
 protected:
  FileRootsTest() {
    std::string name = fs::temp_directory_path() / "clique-roots-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    for (const char* one : {"data/inner", "scratch", "data2"}) fs::create_directories(folder_ / one);
    for (const char* one : {"data/file", "data/inner/file", "scratch/file", "data2/file", "outside"})
      std::ofstream(folder_ / one) << one;
  }
  ~FileRootsTest() override { fs::remove_all(folder_); }

  /// The file's content; or a word for the status with which it cannot be opened.
  std::string content(const FileRoots& roots, const std::string& path) const {
    try {
      const Fd file = roots.open(path, kRead);
      char text[100];
      const ssize_t size = ::read(file.get(), text, sizeof text);
      return {text, static_cast<std::size_t>(size)};
    } catch (const FileError& error) {
      return word(error);
    }
  }
  std::string content(const std::string& path) const { return content(roots(), folder_ / path); }
  /// "ok", or a word for the status.
  std::string written(const std::string& path, std::uint8_t access = kWrite) const {
    try {
      const Fd file = roots().open(folder_ / path, access);
      return ::write(file.get(), "new", 3) == 3 ? "ok" : "not writable";
    } catch (const FileError& error) {
      return word(error);
    }
  }
  static std::string word(const FileError& error) {
    switch (error.status()) {
      case FileStatus::NotFound:
        return "missing";
      case FileStatus::AccessDenied:
        return "denied";
      case FileStatus::NotRegular:
        return "irregular";
      default:
        return error.what();
    }
  }
  FileRoots roots() const {
    return FileRoots::parse("read:" + (folder_ / "data").string() +
                            ",write:" + (folder_ / "scratch").string());
  }
  static std::string parsed(const std::string& text) {
    try {
      return FileRoots::parse(text).text();
    } catch (const std::invalid_argument& error) {
      return std::string("wrong: ") + error.what();
    }
  }
  /// What is left for a client.
  std::string narrowed(const std::string& text) const {
    try {
      return roots().narrowed(FileRoots::parse(text)).text();
    } catch (const std::invalid_argument& error) {
      return std::string("wrong: ") + error.what();
    }
  }

  fs::path folder_;
};

TEST_F(FileRootsTest, GivenTextThenItsFolders) {
  EXPECT_EQ(parsed(""), "none");
  EXPECT_EQ(parsed("none"), "none");
  EXPECT_EQ(parsed("read:/data"), "read:/data");
  EXPECT_EQ(parsed("read:/data/,write:/scratch/./x//"), "read:/data,write:/scratch/x");
  EXPECT_EQ(parsed("write:/"), "write:/");
  EXPECT_EQ(parsed("read:/a:b"), "read:/a:b");
  EXPECT_TRUE(FileRoots::parse("none").empty());
}

TEST_F(FileRootsTest, GivenWrongTextThenTheErrorSaysWhy) {
  for (const char* wrong :
       {"/data", "execute:/data", "read:data", "read:", "read:/data,none", "read:/data,,", ","})
    EXPECT_NE(parsed(wrong).find("is not a folder for files; write read:/FOLDER"), std::string::npos)
        << wrong;
  EXPECT_NE(parsed("read:/data/../etc").find("contains '..'"), std::string::npos);
  EXPECT_NE(parsed("read:/data,write:/data/x").find("contain each other"), std::string::npos);
  EXPECT_NE(parsed("read:/data/x,write:/data").find("contain each other"), std::string::npos);
  EXPECT_NE(parsed("read:/data,write:/data").find("contain each other"), std::string::npos);
  EXPECT_EQ(parsed("read:/data,write:/data2"), "read:/data,write:/data2");
}

TEST_F(FileRootsTest, GivenPathsInsideThenTheirFiles) {
  EXPECT_EQ(content("data/file"), "data/file");
  EXPECT_EQ(content("data/inner/file"), "data/inner/file");
  EXPECT_EQ(content("data/./inner//file"), "data/inner/file");
  EXPECT_EQ(content("scratch/file"), "scratch/file");
  EXPECT_EQ(content("data/missing"), "missing");
  EXPECT_EQ(content("data/file/below"), "missing");
}

TEST_F(FileRootsTest, GivenDirectThenTheFileIsOpenWithThatFlag) {
  const std::string path = folder_ / "data/file";
  EXPECT_EQ(::fcntl(roots().open(path, kRead).get(), F_GETFL) & O_DIRECT, 0);
  if (!Fd(::open(path.c_str(), O_RDONLY | O_DIRECT))) GTEST_SKIP() << "the file system has no O_DIRECT";
  const int flags = ::fcntl(roots().open(path, kRead, true).get(), F_GETFL);
  EXPECT_NE(flags & O_DIRECT, 0);
  EXPECT_EQ(flags & O_NONBLOCK, 0) << "cuFile takes no such file";
}

TEST_F(FileRootsTest, GivenPathsOutsideThenDenied) {
  EXPECT_EQ(content("outside"), "denied");
  EXPECT_EQ(content("data2/file"), "denied") << "begins with the name of a root";
  EXPECT_EQ(content("data/../outside"), "denied");
  EXPECT_EQ(content("data/inner/../file"), "denied") << "written with '..'";
  EXPECT_EQ(content(roots(), "/etc/passwd"), "denied");
  EXPECT_EQ(content(roots(), "data/file"), "missing") << "not absolute";
  EXPECT_EQ(content(roots(), ""), "missing");
  EXPECT_EQ(content(roots(), (folder_ / "data/file").string() + std::string("\0.txt", 5)), "missing");
  EXPECT_EQ(content(roots(), (folder_ / "data").string() + std::string(5000, '/') + "file"), "missing");
}

TEST_F(FileRootsTest, GivenSymbolicLinksThenNoneLeadsOut) {
  fs::create_symlink("inner/file", folder_ / "data/inside");
  fs::create_symlink("../outside", folder_ / "data/up");
  fs::create_symlink("inner/../../outside", folder_ / "data/far");
  fs::create_symlink(folder_ / "outside", folder_ / "data/absolute");
  fs::create_symlink("/", folder_ / "data/root");
  fs::create_directory_symlink("..", folder_ / "data/parent");
  fs::create_symlink("/proc/self/fd/0", folder_ / "data/magic");
  fs::create_symlink("loop", folder_ / "data/loop");
  EXPECT_EQ(content("data/inside"), "data/inner/file");
  for (const char* path : {"data/up", "data/far", "data/absolute", "data/parent/outside",
                           "data/root/etc/passwd", "data/magic", "data/loop"})
    EXPECT_EQ(content(path), "denied") << path;
}

TEST_F(FileRootsTest, GivenNoRegularFileThenItIsNotOpened) {
  ASSERT_EQ(::mkfifo((folder_ / "data/fifo").c_str(), 0600), 0);
  const Fd socket(::socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  (folder_ / "data/socket").string().copy(name.sun_path, sizeof name.sun_path - 1);
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
  for (const char* path : {"data", "data/inner", "data/fifo", "data/socket"})
    EXPECT_EQ(content(path), "irregular") << path;
  EXPECT_EQ(content(FileRoots::parse("write:/dev"), "/dev/zero"), "irregular");
}

TEST_F(FileRootsTest, GivenFolderForReadingThenNothingIsWritten) {
  EXPECT_EQ(written("data/file"), "denied");
  EXPECT_EQ(written("data/new", kWrite | kCreate), "denied");
  EXPECT_FALSE(fs::exists(folder_ / "data/new"));
  EXPECT_EQ(content("data/file"), "data/file");
}

TEST_F(FileRootsTest, GivenFolderForWritingThenFilesAreWrittenAndCreated) {
  EXPECT_EQ(written("scratch/file"), "ok");
  EXPECT_EQ(content("scratch/file"), "newatch/file");
  EXPECT_EQ(written("scratch/new"), "missing");
  EXPECT_EQ(written("scratch/new", kRead | kCreate), "missing") << "not for writing";
  EXPECT_EQ(written("scratch/new", kRead | kWrite | kCreate), "ok");
  EXPECT_EQ(written("scratch/new", kWrite | kCreate), "ok") << "it exists";
  EXPECT_EQ(content("scratch/new"), "new");
  fs::create_symlink("../created", folder_ / "scratch/link");
  EXPECT_NE(written("scratch/link", kWrite | kCreate), "ok");
  EXPECT_FALSE(fs::exists(folder_ / "created"));
}

TEST_F(FileRootsTest, GivenRightsOfTheFileThenTheyCount) {
  if (::geteuid() == 0) GTEST_SKIP() << "permissions do not restrict root";
  fs::permissions(folder_ / "scratch/file", fs::perms::owner_read);
  EXPECT_EQ(written("scratch/file"), "denied");
  EXPECT_EQ(content("scratch/file"), "scratch/file");
}

TEST_F(FileRootsTest, GivenNoRootsThenNothing) {
  EXPECT_EQ(content(FileRoots(), folder_ / "data/file"), "denied");
  EXPECT_EQ(content(FileRoots::parse("none"), "/etc/passwd"), "denied");
}

TEST_F(FileRootsTest, GivenEverythingThenAllFilesByAnyLinks) {
  fs::create_symlink(folder_ / "outside", folder_ / "data/absolute");
  EXPECT_EQ(content(FileRoots::everything(), folder_ / "outside"), "outside");
  EXPECT_EQ(content(FileRoots::everything(), folder_ / "data/absolute"), "outside");
  EXPECT_EQ(content(FileRoots::everything(), "/dev/zero"), "irregular");
}

TEST_F(FileRootsTest, GivenClientsPartThenNoMoreThanThat) {
  const std::string data = folder_ / "data";
  const std::string scratch = folder_ / "scratch";
  EXPECT_EQ(narrowed("none"), "none");
  EXPECT_EQ(narrowed("read:" + data + "/inner"), "read:" + data + "/inner");
  EXPECT_EQ(narrowed("read:" + scratch), "read:" + scratch);
  EXPECT_NE(narrowed("read:/etc").find("lies in none of this node's file-roots"), std::string::npos);
  EXPECT_NE(narrowed("read:" + data + "2").find("lies in none"), std::string::npos);
  EXPECT_NE(narrowed("write:" + data).find("may only be read"), std::string::npos);
  const FileRoots inner = roots().narrowed(FileRoots::parse("read:" + data + "/inner"));
  EXPECT_EQ(content(inner, data + "/inner/file"), "data/inner/file");
  EXPECT_EQ(content(inner, data + "/file"), "denied");
  EXPECT_EQ(content(inner, scratch + "/file"), "denied");
}

TEST_F(FileRootsTest, GivenClientsPartThatIsALinkThenItDoesNotLeadOut) {
  fs::create_directory_symlink("..", folder_ / "data/part");
  const FileRoots part = roots().narrowed(FileRoots::parse("read:" + (folder_ / "data/part").string()));
  EXPECT_EQ(content(part, folder_ / "data/part/outside"), "denied");
}

}  // namespace
}  // namespace clique::daemon
