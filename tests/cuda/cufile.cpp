// Files that the GPU reads through cuFile, with a cuFile that needs neither a GPU nor GPUDirect Storage.
#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>

#include "session.hpp"

namespace clique::test {
namespace {

namespace fs = std::filesystem;

constexpr ObjectId kFileIn = 20;
constexpr ObjectId kFileOut = 21;
constexpr CommandId kAwaited = 900;
constexpr std::uint64_t kMiB = 1U << 20U;

class CudaCuFile : public testing::Test {
 protected:
  CudaCuFile() {
    std::vector<char> content(kSize);
    for (std::size_t i = 0; i < kSize; ++i) content[i] = static_cast<char>(i * 2654435761U >> 21U);
    content_.assign(content.begin(), content.end());
    std::ofstream(folder_ / "in", std::ios::binary) << content_;
    std::ofstream(folder_ / "out", std::ios::binary) << std::string(kSize, '\0');
  }
  ~CudaCuFile() override {
    ::unsetenv("FAKE_CUFILE");
    fs::remove_all(folder_);
  }

  /// Starts a node and a client. @param host what FAKE_CUFILE says of the host; null: nothing
  void start(const std::string& use, const char* host = nullptr) {
    if (host != nullptr) ::setenv("FAKE_CUFILE", host, 1);
    node_.emplace(std::vector<std::string>{"--devices", "fake", "--file-roots", "write:" + folder_.string(),
                                           "--cufile", use});
    client_.emplace(*node_);
    client_->send(CreateBuffer{kBuffer, kContext, kReadWrite, kSize},
                  CreateFile{kFileIn, kContext, folder_ / "in", 1},
                  CreateFile{kFileOut, kContext, folder_ / "out", 2});
  }
  /// Reads a range of the file to a place in the buffer. @returns the status of the transfer
  std::int32_t read(std::uint64_t from, std::uint64_t size, std::uint64_t to = 0) {
    const CommandId id = ++last_;
    client_->send(Expect{command(id, Command::kReport, {}, kOutOfOrder), kBuffer, to, size},
                  ReadFile{command(++last_, 0), kFileIn, from, size, kOwnPeer, id});
    return client_->ended(id).status;
  }
  /// Starts to read the first MiB of the file, after the event kAwaited of another node. @returns the
  /// transfer
  CommandId read_after_another_node() {
    const CommandId id = ++last_;
    client_->send(AwaitRemote{kAwaited, kContext},
                  Expect{command(id, Command::kReport, {kAwaited}, kOutOfOrder), kBuffer, 0, kMiB},
                  ReadFile{command(++last_, 0), kFileIn, 0, kMiB, kOwnPeer, id});
    return id;
  }
  /// A range of the buffer, which it gets by way of the other file.
  std::string content_of_buffer(std::uint64_t at, std::uint64_t size) {
    const CommandId id = ++last_;
    client_->send(WriteFile{command(id), kFileOut, 0, size},
                  Push{command(++last_, 0, {}, kOutOfOrder), kBuffer, at, size, kOwnPeer, id});
    EXPECT_EQ(client_->ended(id).status, 0);
    std::string text(size, '\0');
    std::ifstream(folder_ / "out", std::ios::binary).read(text.data(), static_cast<std::streamsize>(size));
    return text;
  }
  /// Reads the whole file. @returns whether the buffer has its content then
  bool reads_all() { return read(0, kSize) == 0 && content_of_buffer(0, kSize) == content_; }
  /// How often a text is in the log.
  std::size_t logged(const std::string& text) const {
    const std::string log = node_->log();
    std::size_t count = 0;
    for (auto at = log.find(text); at != std::string::npos; at = log.find(text, at + 1)) ++count;
    return count;
  }

  static fs::path make_folder() {
    std::string name = fs::temp_directory_path() / "clique-cufile-XXXXXX";
    return ::mkdtemp(name.data());
  }

  static constexpr std::uint64_t kSize = 3 * kMiB + 100;
  const fs::path folder_ = make_folder();
  std::string content_;
  std::optional<Node> node_;
  std::optional<FakeGpuClient> client_;
  CommandId last_ = 100;
};

constexpr const char* kReads = "fake cuFile reads";
constexpr const char* kRefusal = "the GPU does not read the file";

TEST_F(CudaCuFile, GivenAlwaysThenWholePagesComeThroughCuFile) {
  start("always");
  EXPECT_TRUE(reads_all());
  EXPECT_EQ(logged("fake cuFile reads 1048576 bytes at "), 3U);
  EXPECT_EQ(logged(kReads), 3U);
  EXPECT_EQ(logged(kRefusal), 0U);
  EXPECT_EQ(logged("the GPU reads files through cuFile, also where there is no GPUDirect Storage"), 1U);
}

TEST_F(CudaCuFile, GivenUnalignedRangeThenCuFileReadsThePagesWithin) {
  start("always");
  constexpr std::uint64_t from = 1000, size = 2 * kMiB + 5000, to = 3;
  EXPECT_EQ(read(from, size, to), 0);
  EXPECT_EQ(content_of_buffer(to, size), content_.substr(from, size));
  EXPECT_EQ(logged("fake cuFile reads 1044480 bytes at 4096"), 1U);
  EXPECT_EQ(logged("fake cuFile reads 1048576 bytes at 1048576"), 1U);
  EXPECT_EQ(logged("fake cuFile reads 4096 bytes at 2097152"), 1U);
  EXPECT_EQ(logged(kRefusal), 0U);
  EXPECT_EQ(logged(kReads), 3U);
}

TEST_F(CudaCuFile, GivenNoWholePageThenItIsReadWithoutCuFile) {
  start("always");
  EXPECT_EQ(read(4000, 200, 50), 0);
  EXPECT_EQ(content_of_buffer(50, 200), content_.substr(4000, 200));
  EXPECT_EQ(read(4096, 100), 0);
  EXPECT_EQ(content_of_buffer(0, 100), content_.substr(4096, 100));
  EXPECT_EQ(logged(kReads), 0U);
}

TEST_F(CudaCuFile, GivenShortReadsThenTheRestIsReadWithoutCuFile) {
  start("always", "short");
  EXPECT_TRUE(reads_all());
  EXPECT_EQ(logged(kReads), 3U);
  EXPECT_EQ(logged(kRefusal), 0U);
}

TEST_F(CudaCuFile, GivenReadsThatFailThenTheTransferGoesOnWithoutCuFile) {
  start("always", "fail");
  EXPECT_TRUE(reads_all());
  EXPECT_GE(logged(kReads), 1U);
  EXPECT_EQ(logged(kRefusal), 1U);
  EXPECT_EQ(logged("error 5010 of cuFile"), 1U);
}

TEST_F(CudaCuFile, GivenFileThatIsTooShortThenItsStatus) {
  start("always");
  EXPECT_EQ(read(kMiB, kSize), static_cast<int>(FileStatus::End));
  fs::resize_file(folder_ / "in", kMiB + 5000);
  EXPECT_EQ(read(0, kSize), static_cast<int>(FileStatus::End));
  EXPECT_EQ(read(0, kMiB + 5000), 0);
}

TEST_F(CudaCuFile, GivenFailedWaitThenNothingIsRead) {
  start("always");
  const CommandId transfer = read_after_another_node();
  client_->send(SetRemote{kAwaited, -5});
  EXPECT_LT(client_->ended(transfer).status, 0);
  EXPECT_EQ(logged(kReads), 0U);
}

TEST_F(CudaCuFile, GivenWaitThenTheReadFollowsIt) {
  start("always");
  const CommandId transfer = read_after_another_node();
  EXPECT_FALSE(client_->reports.comes<EventState>(std::chrono::milliseconds(200)));
  EXPECT_EQ(logged(kReads), 0U);
  client_->send(SetRemote{kAwaited, CL_COMPLETE});
  EXPECT_EQ(client_->ended(transfer).status, 0);
  EXPECT_EQ(content_of_buffer(0, kMiB), content_.substr(0, kMiB));
  EXPECT_EQ(logged(kReads), 1U);
}

TEST_F(CudaCuFile, GivenAutoWithoutGpuDirectStorageThenCuFileIsNotUsed) {
  start("auto");
  EXPECT_TRUE(reads_all());
  EXPECT_EQ(logged("fake cuFile is opened"), 1U);
  EXPECT_EQ(logged(kReads), 0U);
}

TEST_F(CudaCuFile, GivenAutoWithGpuDirectStorageThenCuFileIsUsed) {
  start("auto", "gds");
  EXPECT_TRUE(reads_all());
  EXPECT_EQ(logged(kReads), 3U);
  EXPECT_EQ(logged(kRefusal), 0U);
}

TEST_F(CudaCuFile, GivenAutoAndCuFileThatWouldCopyThenItIsNotUsed) {
  start("auto", "old");
  EXPECT_TRUE(reads_all());
  EXPECT_EQ(logged("fake cuFile is opened"), 1U);
  EXPECT_EQ(logged(kReads), 0U);
}

TEST_F(CudaCuFile, GivenFileThatCuFileRefusesThenItIsReadWithoutIt) {
  start("always", "refuse");
  EXPECT_TRUE(reads_all());
  EXPECT_EQ(logged(kReads), 0U);
  EXPECT_EQ(logged("error 5008 of cuFile: the file system does not support GPUDirect Storage"), 1U);
}

TEST_F(CudaCuFile, GivenNeverThenCuFileIsNotOpened) {
  start("never");
  EXPECT_TRUE(reads_all());
  EXPECT_EQ(logged("fake cuFile"), 0U);
}

TEST_F(CudaCuFile, GivenNoCuFileThenFilesAreReadWithoutIt) {
  const std::string folders = std::getenv("LD_LIBRARY_PATH");
  // The driver's folder comes first.
  ::setenv("LD_LIBRARY_PATH", folders.substr(0, folders.find(':')).c_str(), 1);
  start("always");
  ::setenv("LD_LIBRARY_PATH", folders.c_str(), 1);
  EXPECT_TRUE(reads_all());
  EXPECT_EQ(logged("files are read without cuFile: "), 1U);
  EXPECT_EQ(logged("fake cuFile"), 0U);
}

}  // namespace
}  // namespace clique::test
