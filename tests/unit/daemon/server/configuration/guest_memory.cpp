#include "daemon/server/configuration/guest_memory.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include "daemon/server/configuration/config_error.hpp"
#include "protocol/transport/guest_memory.hpp"
#include "protocol/transport/shared_memory.hpp"

namespace clique::daemon {

namespace {

using protocol::SharedMemory;
using protocol::SharedSegment;

constexpr std::uint64_t kMiB = 1U << 20U;

class GuestMemoryFiles : public testing::Test {
 protected:
  GuestMemoryFiles() {
    std::string name = testing::TempDir() + "guest-memory-XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~GuestMemoryFiles() override { std::filesystem::remove_all(folder_); }

  /// A file for some sessions.
  std::string file(const std::string& name, std::size_t sessions) const {
    return file_of(name, protocol::kGuestMemoryHead + sessions * SharedMemory::kBytes);
  }
  std::string file_of(const std::string& name, std::uint64_t size) const {
    const auto path = folder_ / name;
    std::ofstream(path).flush();
    std::filesystem::resize_file(path, size);
    return path;
  }
  static protocol::Bytes id_of(const std::string& path) {
    const Fd file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    const auto id =
        protocol::read_guest_memory_head(*SharedSegment::part_of(file, 0, protocol::kGuestMemoryHead));
    return id ? protocol::Bytes(id->begin(), id->end()) : protocol::Bytes();
  }
  static std::string failure(const std::vector<std::string>& files) {
    try {
      const GuestMemory memory(files);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "no failure";
  }

  std::filesystem::path folder_;
};

TEST_F(GuestMemoryFiles, GivenTheIdThenRegionsDoNotOverlapAndEndWithTheFile) {
  const std::string path = file("one", 2);
  GuestMemory memory({path}, 0);
  const auto id = id_of(path);
  const auto first = memory.assign(id);
  const auto second = memory.assign(id);
  ASSERT_TRUE(first);
  ASSERT_TRUE(second);
  EXPECT_EQ(first.at(), protocol::kGuestMemoryHead);
  EXPECT_EQ(second.at(), first.at() + SharedMemory::kBytes);
  EXPECT_FALSE(memory.assign(id));
}

TEST_F(GuestMemoryFiles, GivenARegionIsGivenBackThenTheNextSessionFindsZerosThere) {
  const std::string path = file("one", 1);
  GuestMemory memory({path});
  const auto id = id_of(path);
  std::optional<GuestMemory::Region> region(memory.assign(id));
  const Fd raw(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  const auto mapped = SharedSegment::part_of(raw, region->at(), SharedMemory::kBytes);
  mapped->bytes().back() = std::byte{1};
  region.reset();
  const auto again = memory.assign(id);
  ASSERT_TRUE(again);
  EXPECT_EQ(mapped->bytes().back(), std::byte{0});
}

TEST_F(GuestMemoryFiles, GivenAnotherIdThenThereIsNoRegion) {
  const std::string path = file("one", 1);
  GuestMemory memory({path});
  auto id = id_of(path);
  EXPECT_FALSE(memory.assign({}));
  EXPECT_FALSE(memory.assign(protocol::Bytes(id.begin(), id.end() - 1)));
  auto longer = id;
  longer.push_back(0);
  EXPECT_FALSE(memory.assign(longer));
  id[0] ^= 1U;
  EXPECT_FALSE(memory.assign(id));
}

TEST_F(GuestMemoryFiles, GivenAGuestChangesTheHeadThenItsIdIsStillTheDaemons) {
  const std::string path = file("one", 1);
  GuestMemory memory({path});
  const auto id = id_of(path);
  const Fd raw(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  protocol::write_guest_memory_head(*SharedSegment::part_of(raw, 0, protocol::kGuestMemoryHead));
  EXPECT_FALSE(memory.assign(id_of(path)));
  EXPECT_TRUE(memory.assign(id));
}

TEST_F(GuestMemoryFiles, GivenTwoMachinesThenEachHasItsOwnFile) {
  const std::string one = file("one", 1);
  const std::string two = file("two", 1);
  GuestMemory memory({one, two});
  const auto first = memory.assign(id_of(one));
  ASSERT_TRUE(first);
  EXPECT_FALSE(memory.assign(id_of(one)));
  EXPECT_TRUE(memory.assign(id_of(two)));
}

TEST_F(GuestMemoryFiles, GivenRoomThenPlacesForSegmentsAreInTheSecondHalfAndDoNotOverlap) {
  const std::string path = file_of("one", 512 * kMiB);
  GuestMemory memory({path});
  const auto id = id_of(path);
  const auto first = memory.assign(id);
  const auto second = memory.assign(id);
  EXPECT_EQ(first.segments_at(), 256 * kMiB);
  EXPECT_EQ(first.segments_size(), 128 * kMiB);
  EXPECT_EQ(second.segments_at(), 384 * kMiB);
  EXPECT_EQ(second.segments_size(), 128 * kMiB);
  const auto third = memory.assign(id);
  ASSERT_TRUE(third);
  EXPECT_LE(third.at() + SharedMemory::kBytes, 256 * kMiB);
  EXPECT_EQ(third.segments_size(), 0U);
  EXPECT_FALSE(memory.assign(id));
}

TEST_F(GuestMemoryFiles, GivenAPlaceForSegmentsIsGivenBackThenTheNextSessionFindsZerosThere) {
  const std::string path = file_of("one", 256 * kMiB);
  GuestMemory memory({path}, 256 * kMiB);
  const auto id = id_of(path);
  std::optional<GuestMemory::Region> region(memory.assign(id));
  const std::uint64_t at = region->segments_at();
  const std::uint64_t size = region->segments_size();
  EXPECT_EQ(size, 128 * kMiB);
  const Fd raw(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  const char secret = 's';
  for (const std::uint64_t byte : {at, at + size - 1})
    ASSERT_EQ(::pwrite(raw.get(), &secret, 1, static_cast<off_t>(byte)), 1);
  region.reset();
  const auto next = memory.assign(id);
  EXPECT_EQ(next.segments_at(), at);
  for (const std::uint64_t byte : {at, at + size - 1}) {
    char found = 'x';
    ASSERT_EQ(::pread(raw.get(), &found, 1, static_cast<off_t>(byte)), 1);
    EXPECT_EQ(found, 0);
  }
}

TEST_F(GuestMemoryFiles, GivenSizesOfSegmentsThenASessionHasNoMoreAndARegionHasRoom) {
  const std::string small = file_of("small", 128 * kMiB);
  {
    GuestMemory memory({small});
    const auto session = memory.assign(id_of(small));
    ASSERT_TRUE(session);
    EXPECT_EQ(session.segments_size(), 32 * kMiB);
    EXPECT_GE(session.segments_at(), session.at() + SharedMemory::kBytes);
  }
  const std::string path = file_of("one", 512 * kMiB);
  for (const auto& [given, size] : {std::pair(0 * kMiB, 0 * kMiB),
                                    {4096, 0 * kMiB},
                                    {3 * kMiB, 2 * kMiB},
                                    {64 * kMiB, 64 * kMiB},
                                    {1024 * kMiB, 256 * kMiB}}) {
    GuestMemory memory({path}, given);
    const auto session = memory.assign(id_of(path));
    ASSERT_TRUE(session);
    EXPECT_EQ(session.segments_size(), size) << given;
    EXPECT_EQ(session.segments_at() == 0, size == 0) << given;
  }
}

TEST_F(GuestMemoryFiles, GivenFilesThatCannotBeUsedThenTheReasonNamesThem) {
  EXPECT_NE(failure({(folder_ / "none").string()}).find("none cannot be opened: No such file"),
            std::string::npos);
  EXPECT_NE(failure({folder_.string()}).find("cannot be opened"), std::string::npos);
  EXPECT_NE(failure({"/dev/null"}).find("/dev/null is not a file"), std::string::npos);
  EXPECT_NE(failure({file("empty", 0)}).find("the smallest that is of use has"), std::string::npos);
  const std::string path = file("one", 1);
  EXPECT_NE(failure({path, path}).find("is used by another cliqued"), std::string::npos);
  std::filesystem::create_symlink(path, folder_ / "link");
  EXPECT_NE(failure({(folder_ / "link").string()}).find("cannot be opened"), std::string::npos);
}

TEST_F(GuestMemoryFiles, GivenListsThenTheirPathsAreRead) {
  EXPECT_TRUE(parse_guest_memory("").empty());
  EXPECT_EQ(parse_guest_memory("/dev/shm/a,/dev/shm/b"),
            (std::vector<std::string>{"/dev/shm/a", "/dev/shm/b"}));
  EXPECT_THROW(parse_guest_memory("a"), std::invalid_argument);
  EXPECT_THROW(parse_guest_memory("/dev/shm/a,,/dev/shm/b"), std::invalid_argument);
}

}  // namespace

}  // namespace clique::daemon
