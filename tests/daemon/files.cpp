// Files of the node, for a worker that is driven by messages: what is right, and what no client of ours
// sends.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "harness.hpp"
#include "ids.hpp"

namespace clique::test {
namespace {

namespace fs = std::filesystem;

constexpr ObjectId kFile = 20;

class NodeFiles : public testing::Test {
 protected:
  /// The one that reads a file; the one that takes its content, or writes it to the file; and others.
  static constexpr CommandId kReading = 100, kTransfer = 101, kSecondTransfer = 102, kFill = 90, kPush = 91,
                             kMarker = 103, kRead = 104;

  NodeFiles() {
    std::ofstream(folder_ / "file") << std::string(kSize, 'f');
    client_.set_up();
    client_.send(CreateBuffer{kBuffer, kContext, kReadWrite, kSize}, CreateFile{kFile, kContext, path(), 3});
  }
  ~NodeFiles() override { fs::remove_all(folder_); }

  static fs::path make_folder() {
    std::string name = fs::temp_directory_path() / "clique-node-files-XXXXXX";
    return ::mkdtemp(name.data());
  }
  std::string path() const { return folder_ / "file"; }
  static Expect expectation(std::uint64_t size) {
    return {command(kTransfer, Command::kReport, {}, kOutOfOrder), kBuffer, 0, size};
  }
  static ReadFile reading(std::uint64_t offset, std::uint64_t size) {
    return {command(kReading, 0), kFile, offset, size, kOwnPeer, kTransfer};
  }
  /// The reason with which a session ends that sends this.
  template <typename M>
  std::string end_with(const M& message) {
    client_.send(message);
    return client_.next<SessionEnded>().reason;
  }

  static constexpr std::uint64_t kSize = 3U << 20U;
  const fs::path folder_ = make_folder();
  const Node node_{{"--file-roots", "write:" + folder_.string()}};
  Client client_{node_};
};

#define EXPECT_CONTAINS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST_F(NodeFiles, GivenReadAndExpectInAnyOrderThenTheBufferHasTheContent) {
  client_.send(expectation(kSize), reading(0, kSize));
  EXPECT_EQ(client_.ended(kTransfer).status, 0);
  ReadFile second = reading(7, 100);
  second.transfer = kSecondTransfer;
  Expect later = expectation(100);
  later.command.id = kSecondTransfer;
  client_.send(second);
  client_.send(SyncClock{kRequest});
  client_.next<ClockSynced>();
  client_.send(later);
  EXPECT_EQ(client_.ended(kSecondTransfer).status, 0);
  client_.send(ReadBuffer{command(kRead), 0, kBuffer, 0, 1000});
  EXPECT_EQ(client_.data(kRead), std::vector<std::byte>(1000, std::byte{'f'}));
}

TEST_F(NodeFiles, GivenMoreReadThanExpectedThenTheTransferFailsAndNothingElse) {
  client_.send(expectation(kSize / 2), reading(0, kSize));
  EXPECT_LT(client_.ended(kTransfer).status, 0);
  client_.send(FillBuffer{command(kFill), kBuffer, {1}, 0, kSize});
  EXPECT_EQ(client_.ended(kFill).status, 0);
}

TEST_F(NodeFiles, GivenMissingPartOfTheFileThenItsStatusAndTheReason) {
  client_.send(expectation(kSize), reading(1, kSize));
  EXPECT_EQ(client_.ended(kTransfer).status, static_cast<int>(FileStatus::End));
  EXPECT_CONTAINS(client_.next<Failed>().what, path());
}

TEST_F(NodeFiles, GivenPushToItselfThenTheFileHasTheContent) {
  client_.send(FillBuffer{command(kFill), kBuffer, {'b'}, 0, kSize},
               WriteFile{command(kTransfer), kFile, 10, 100},
               Push{command(kPush, 0, {kFill}, kOutOfOrder), kBuffer, 0, 100, kOwnPeer, kTransfer});
  EXPECT_EQ(client_.ended(kTransfer).status, 0);
  std::ifstream file(path());
  std::string text(120, '\0');
  file.read(text.data(), 120);
  EXPECT_EQ(text, std::string(10, 'f') + std::string(100, 'b') + std::string(10, 'f'));
}

TEST_F(NodeFiles, GivenFileThatShrinksWhileItIsReadThenItsStatusAndNothingElse) {
  // Only a few parts are read before somebody takes them.
  constexpr std::uint64_t kLong = 32U << 20U, kShort = 16U << 20U;
  fs::resize_file(path(), kLong);
  client_.send(CreateBuffer{kBuffer + 1, kContext, kReadWrite, kLong}, reading(0, kLong));
  client_.send(SyncClock{kRequest});
  client_.next<ClockSynced>();
  fs::resize_file(path(), kShort);
  Expect whole = expectation(kLong);
  whole.object = kBuffer + 1;
  client_.send(whole);
  EXPECT_EQ(client_.ended(kTransfer).status, static_cast<int>(FileStatus::End));
  const std::string what = client_.next<Failed>().what;
  EXPECT_CONTAINS(what, path());
  EXPECT_CONTAINS(what, "it has no byte ");
  ReadFile second = reading(0, kSize);
  second.transfer = kSecondTransfer;
  Expect rest = expectation(kSize);
  rest.command.id = kSecondTransfer;
  client_.send(rest, second);
  EXPECT_EQ(client_.ended(kSecondTransfer).status, 0);
}

TEST_F(NodeFiles, GivenPushThatWaitsForAFailedCommandThenTheWriteFailsAndTheFileStays) {
  client_.send(AwaitRemote{kFill, kContext}, WriteFile{command(kTransfer), kFile, 0, 100},
               Push{command(kPush, 0, {kFill}, kOutOfOrder), kBuffer, 0, 100, kOwnPeer, kTransfer});
  client_.send(SetRemote{kFill, -7});
  EXPECT_LT(client_.ended(kTransfer).status, 0);
  std::ifstream file(path());
  EXPECT_EQ(file.get(), 'f');
}

TEST_F(NodeFiles, GivenBufferThatIsReleasedWhileItIsWrittenThenTheFileHasAllOfIt) {
  constexpr std::uint64_t kLong = 40U << 20U;
  client_.send(CreateBuffer{kBuffer + 1, kContext, kReadWrite, kLong},
               FillBuffer{command(kFill), kBuffer + 1, {'b'}, 0, kLong},
               WriteFile{command(kTransfer), kFile, 0, kLong},
               Push{command(kPush, 0, {kFill}, kOutOfOrder), kBuffer + 1, 0, kLong, kOwnPeer, kTransfer},
               Release{{kBuffer + 1}, {}});
  EXPECT_EQ(client_.ended(kTransfer).status, 0);
  std::ifstream file(path(), std::ios::binary);
  std::string content(kLong + 1, '\0');
  file.read(content.data(), static_cast<std::streamsize>(content.size()));
  EXPECT_EQ(file.gcount(), static_cast<std::streamsize>(kLong));
  EXPECT_EQ(content.find_first_not_of('b'), kLong);
}

TEST_F(NodeFiles, GivenFailuresOfOneSessionThenAnotherOneNoticesNothing) {
  Client other(node_, "another test");
  other.set_up();
  other.send(CreateBuffer{kBuffer, kContext, kReadWrite, kSize}, CreateFile{kFile, kContext, path(), 3});
  const std::string missing = folder_ / "missing", folder = folder_;
  client_.send(CreateFile{kFile + 1, kContext, missing, 1}, CreateFile{kFile + 2, kContext, folder, 1});
  CommandId id = 200;
  const auto read = [&id](Client& client, ObjectId file, std::uint64_t offset) {
    ReadFile message = reading(offset, kSize);
    message.file = file;
    message.transfer = ++id;
    Expect to = expectation(kSize);
    to.command.id = id;
    client.send(to, message);
    return id;
  };
  for (int round = 0; round < 20; ++round) {
    const CommandId failing[] = {read(client_, kFile + 1, 0), read(client_, kFile + 2, 0),
                                 read(client_, kFile, 1)};
    const CommandId good = read(other, kFile, 0);
    EXPECT_EQ(other.ended(good).status, 0);
    EXPECT_EQ(client_.ended(failing[0]).status, static_cast<int>(FileStatus::NotFound));
    EXPECT_EQ(client_.ended(failing[1]).status, static_cast<int>(FileStatus::NotRegular));
    EXPECT_EQ(client_.ended(failing[2]).status, static_cast<int>(FileStatus::End));
  }
  other.send(ReadBuffer{command(kRead), 0, kBuffer, 0, 1000});
  EXPECT_EQ(other.data(kRead), std::vector<std::byte>(1000, std::byte{'f'}));
  EXPECT_FALSE(other.reports.comes<Failed>(std::chrono::milliseconds(10)));
}

TEST_F(NodeFiles, GivenEventOfAWriteThenCommandsMayWaitForIt) {
  client_.send(WriteFile{command(kTransfer), kFile, 0, 100},
               Marker{command(kMarker, Command::kReport, {kTransfer})});
  client_.send(Push{command(kPush, 0, {}, kOutOfOrder), kBuffer, 0, 100, kOwnPeer, kTransfer});
  EXPECT_EQ(client_.ended(kMarker).status, 0);
}

TEST_F(NodeFiles, GivenQueryThenTheSizeOrTheReason) {
  client_.send(QueryFile{kRequest, kFile});
  EXPECT_EQ(client_.next<FileAnswer>().size, kSize);
  client_.send(CreateFile{kFile + 1, kContext, "/etc/passwd", 1}, QueryFile{kRequest, kFile + 1});
  const auto answer = client_.next<FileAnswer>();
  EXPECT_EQ(answer.status, static_cast<int>(FileStatus::AccessDenied));
  EXPECT_CONTAINS(answer.failure, "file-roots");
}

TEST_F(NodeFiles, GivenReleaseBeforeTheReadThenItIsUnknown) {
  client_.send(Release{{kFile}, {}});
  EXPECT_CONTAINS(end_with(reading(0, 1)), "file 20 does not exist");
}

TEST_F(NodeFiles, GivenIdInUseThenTheSessionEnds) {
  EXPECT_CONTAINS(end_with(CreateFile{kFile, kContext, path(), 1}), "file 20 cannot be created");
}

TEST_F(NodeFiles, GivenPathThatIsTooLongThenTheSessionEnds) {
  EXPECT_CONTAINS(end_with(CreateFile{kFile + 1, kContext, std::string(5000, '/'), 1}),
                  "more than 4096 bytes");
}

TEST_F(NodeFiles, GivenRangeThatNoFileHasThenTheSessionEnds) {
  EXPECT_CONTAINS(end_with(reading(~0ULL - 5, 10)), "ends beyond the largest file");
}

TEST_F(NodeFiles, GivenEmptyWriteThenTheSessionEnds) {
  EXPECT_CONTAINS(end_with(WriteFile{command(kTransfer), kFile, 0, 0}), "is empty");
}

TEST_F(NodeFiles, GivenUnknownPeerThenTheSessionEnds) {
  ReadFile message = reading(0, 1);
  message.peer = 5;
  EXPECT_CONTAINS(end_with(message), "peer 5 is not connected");
}

}  // namespace
}  // namespace clique::test
