// Segments in memory that a virtual machine shares with its host: the client here uses the file as one in a
// guest uses the device.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <utility>

#include "harness.hpp"
#include "ids.hpp"
#include "protocol/limits.hpp"
#include "protocol/transport/guest_memory.hpp"
#include "protocol/transport/shared_segment.hpp"

namespace clique::test {
namespace {

/// Room for seven sessions, and for the segments of eight.
constexpr std::uint64_t kFileSize = 1024 * kMiB;
constexpr std::uint64_t kPlace = 64 * kMiB;

/// A file in /dev/shm.
class MemoryFile {
 public:
  MemoryFile() : file_(::mkstemp(name_.data())) { std::filesystem::resize_file(name_, kFileSize); }
  ~MemoryFile() { std::filesystem::remove(name_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  const std::string& name() const { return name_; }
  std::shared_ptr<SharedSegment> part(std::uint64_t at, std::size_t size) const {
    return SharedSegment::part_of(file_, at, size);
  }

 private:
  std::string name_ = "/dev/shm/clique-guest-XXXXXX";
  const Fd file_;
};

class GuestSegments : public testing::Test {
 protected:
  /// A guest's session, and its view of its place for segments.
  struct Guest {
    Guest(const Node& node, const MemoryFile& file)
        : caller(node.endpoint()), client(address(file), nullptr, node.endpoint()) {
      client.set_up();
      client.send(CreateBuffer{kBuffer, kContext, kReadWrite, kBytes});
      segments = file.part(client.address.segments_at, client.address.segments_size);
    }
    WorkerAddress address(const MemoryFile& file) {
      const auto id = read_guest_memory_head(*file.part(0, kGuestMemoryHead));
      Choice choice;
      choice.memory.assign(id->begin(), id->end());
      caller.send(Hello{kVersion, Wish::Session, "a guest"}, choice);
      return caller.next<Welcome>().workers.at(0);
    }
    std::byte* at(std::uint64_t offset) const { return segments->bytes().data() + offset; }
    /// Why the session ends.
    std::string end() { return client.next<SessionEnded>().reason; }

    Caller caller;
    Client client;
    std::shared_ptr<SharedSegment> segments;
  };

  static constexpr std::uint64_t kBytes = 3 * kMiB + 20;
  static constexpr CommandId kWrite = 200, kRead = 201;

  GuestSegments() {
    content_.resize(kBytes / 4);
    std::iota(content_.begin(), content_.end(), 17U);
  }
  /// Writes the buffer from one segment, and reads it into another.
  void expect_transfers(Guest& guest) const {
    guest.client.send(PlaceSegment{kSegment, 4096, kBytes},
                      PlaceSegment{kSegment + 1, 8 * kMiB, guest.client.address.segments_size - 8 * kMiB});
    std::memcpy(guest.at(4096), content_.data(), kBytes);
    guest.client.send(WriteFromSegment{command(kWrite, Command::kReport, {}, kOutOfOrder), kBuffer, 0, kBytes,
                                       kSegment, 0});
    EXPECT_EQ(guest.client.ended(kWrite).status, 0);
    std::memset(guest.at(4096), 0, kBytes);
    guest.client.send(ReadToSegment{command(kRead, Command::kReport, {}, kOutOfOrder), kBuffer, 0, kBytes,
                                    kSegment + 1, 5});
    EXPECT_EQ(guest.client.ended(kRead).status, 0);
    EXPECT_EQ(std::memcmp(guest.at(8 * kMiB + 5), content_.data(), kBytes), 0);
  }

  MemoryFile file_;
  const Node node_{{"--guest-memory", file_.name(), "--guest-segments", "64M"}};
  std::vector<std::uint32_t> content_;
};

TEST_F(GuestSegments, GivenPlacedSegmentsThenContentNeedsNoPartsEitherWay) {
  Guest guest(node_, file_);
  EXPECT_EQ(guest.client.address.segments_at, kFileSize / 2);
  EXPECT_EQ(guest.client.address.segments_size, kPlace);
  expect_transfers(guest);
}

TEST_F(GuestSegments, GivenASegmentIsFreedThenItsCommandsEndFirst) {
  Guest guest(node_, file_);
  guest.client.send(PlaceSegment{kSegment, 0, kBytes}, AwaitRemote{kRemote, kContext},
                    WriteFromSegment{command(kWrite, Command::kReport, {kRemote}, kOutOfOrder), kBuffer, 0,
                                     kBytes, kSegment, 0},
                    FreeSegment{kSegment});
  EXPECT_FALSE(guest.client.reports.comes<SegmentFreed>(std::chrono::milliseconds(300)));
  std::memcpy(guest.at(0), content_.data(), kBytes);
  guest.client.send(SetRemote{kRemote, 0});
  EXPECT_EQ(guest.client.next<SegmentFreed>().segment, kSegment);
  EXPECT_EQ(guest.client.ended(kWrite).status, 0);
  // The place can be used again.
  guest.client.send(
      PlaceSegment{kSegment + 1, 0, kBytes},
      ReadToSegment{command(kRead, Command::kReport, {}, kOutOfOrder), kBuffer, 0, kBytes, kSegment + 1, 0});
  std::memset(guest.at(0), 0, kBytes);
  EXPECT_EQ(guest.client.ended(kRead).status, 0);
}

TEST_F(GuestSegments, GivenRangesThatTheSessionDoesNotHaveThenItEndsAndOthersDoNot) {
  Guest other(node_, file_);
  const std::uint64_t size = kPlace;
  const std::uint64_t huge = ~std::uint64_t{0};
  for (const auto& [at, bytes] : {std::pair<std::uint64_t, std::uint64_t>{0, size + 1},
                                  {size, 1},
                                  {huge, 2},
                                  {huge - size + 1, size},
                                  {1, huge},
                                  {0, 0}}) {
    Guest guest(node_, file_);
    guest.client.send(PlaceSegment{kSegment, at, bytes});
    EXPECT_NE(guest.end().find("segment 900"), std::string::npos) << at << ' ' << bytes;
  }
  expect_transfers(other);
}

TEST_F(GuestSegments, GivenUsesOutsideOfASegmentThenTheSessionEnds) {
  for (const auto& [at, size] :
       {std::pair<std::uint64_t, std::uint64_t>{0, 4097}, {4096, 1}, {~std::uint64_t{0}, 2}}) {
    Guest guest(node_, file_);
    guest.client.send(PlaceSegment{kSegment, 4096, 4096},
                      ReadToSegment{command(kRead, Command::kReport), kBuffer, 0, size, kSegment, at});
    EXPECT_NE(guest.end().find("of segment 900"), std::string::npos) << at << ' ' << size;
  }
}

TEST_F(GuestSegments, GivenTheSameNumberTwiceThenTheSessionEnds) {
  Guest guest(node_, file_);
  guest.client.send(PlaceSegment{kSegment, 0, 4096}, PlaceSegment{kSegment, 4096, 4096});
  EXPECT_NE(guest.end().find("exists already"), std::string::npos);
}

TEST_F(GuestSegments, GivenABufferThatIsToLieInASegmentThenTheSessionEnds) {
  Guest guest(node_, file_);
  guest.client.send(PlaceSegment{kSegment, 0, 4096},
                    CreateBuffer{kOther, kContext, kReadWrite, 4096, 1U << 30U, kSegment});
  EXPECT_NE(guest.end().find("which was shared at another one"), std::string::npos);
}

TEST_F(GuestSegments, GivenASessionOfNoGuestThenItCanPlaceNone) {
  Client client(node_);
  client.set_up();
  client.send(PlaceSegment{kSegment, 0, 4096});
  EXPECT_NE(client.next<SessionEnded>().reason.find("which the session does not have"), std::string::npos);
}

}  // namespace
}  // namespace clique::test
