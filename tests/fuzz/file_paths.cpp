// Paths with which clients ask for files: none leads out of the folder that the node offers, or to a file
// that may only be read for writing.
#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <utility>

#include "daemon/server/configuration/file_roots.hpp"
#include "protocol/messages/files.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace clique::fuzz::target_file_paths {
namespace {

namespace fs = std::filesystem;
namespace file_access = protocol::file_access;

using FileId = std::pair<dev_t, ino_t>;

FileId id_of(const Fd& file) {
  struct stat status{};
  require(::fstat(file.get(), &status) == 0, "a file has a number");
  return {status.st_dev, status.st_ino};
}

/// A folder that the node offers for reading, and files beside it.
class Disk {
 public:
  static const Disk& get() {
    static const Disk one;
    return one;
  }
  ~Disk() { fs::remove_all(folder_); }
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;

  fs::path folder() const { return folder_; }
  const daemon::FileRoots& roots() const { return roots_; }
  bool offers(const Fd& file) const { return offered_.contains(id_of(file)); }

 private:
  Disk() {
    fs::create_directories(folder_ / "open/inner");
    fs::create_directories(folder_ / "openly");
    for (const char* name : {"secret", "openly/secret"}) make(name);
    for (const char* name : {"open/file", "open/inner/file"}) offered_.insert(make(name));
    fs::create_symlink("file", folder_ / "open/inside");
    fs::create_symlink("../secret", folder_ / "open/out");
    fs::create_symlink("..", folder_ / "open/up");
    fs::create_symlink(folder_ / "secret", folder_ / "open/absolute");
    fs::create_symlink("/proc/self/root", folder_ / "open/root");
    fs::create_symlink("loop", folder_ / "open/loop");
    roots_ = daemon::FileRoots::parse("read:" + (folder_ / "open").string());
  }
  FileId make(const std::string& name) const {
    const std::string path = folder_ / name;
    const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    require(file.get() >= 0, "the system has room for files");
    return id_of(file);
  }
  static std::string temporary() {
    std::string name = fs::temp_directory_path() / "clique-fuzz-XXXXXX";
    require(::mkdtemp(name.data()) != nullptr, "the system has room for folders");
    return name;
  }

  const fs::path folder_ = temporary();
  std::set<FileId> offered_;
  daemon::FileRoots roots_;
};

/// An input is the access, and a path below the folder that contains the one which the node offers.
std::vector<std::string> seeds() {
  std::vector<std::string> all;
  for (const char* path :
       {"open/file", "open/./inner//file", "open/inside", "open/out", "open/up/secret", "open/absolute",
        "open/root/etc/passwd", "open/loop", "open/inner/../file", "openly/secret", "open", "open/new"})
    for (const std::uint8_t access : {file_access::kRead, file_access::kWrite})
      all.push_back(Output().number(access).bytes(path).text());
  return all;
}

void test(const std::uint8_t* data, std::size_t size) {
  const Disk& disk = Disk::get();
  Input input(data, size);
  const auto access = input.number<std::uint8_t>();
  const std::string path = disk.folder().string() + "/" + std::string(text_of(input.rest()));
  try {
    const Fd file = disk.roots().open(path, access);
    require(disk.offers(file), "only offered files are opened");
    require((access & file_access::kWrite) == 0, "what may only be read is not opened for writing");
  } catch (const daemon::FileError&) {
    return;
  }
}

const Registration kTarget{"file_paths", seeds, test};

}  // namespace
}  // namespace clique::fuzz::target_file_paths
