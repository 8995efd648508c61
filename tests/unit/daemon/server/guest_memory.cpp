#include "daemon/server/guest_memory.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "daemon/server/config_error.hpp"
#include "protocol/transport/guest_memory.hpp"
#include "protocol/transport/shared_memory.hpp"

namespace clique::daemon {

namespace {

using protocol::SharedMemory;
using protocol::SharedSegment;

class GuestMemoryFiles : public testing::Test {
 protected:
  GuestMemoryFiles() {
    std::string name = testing::TempDir() + "guest-memory-XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~GuestMemoryFiles() override { std::filesystem::remove_all(folder_); }

  /// A file for some sessions.
  std::string file(const std::string& name, std::size_t sessions) const {
    const auto path = folder_ / name;
    std::ofstream(path).flush();
    std::filesystem::resize_file(path, protocol::kGuestMemoryHead + sessions * SharedMemory::kBytes);
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
  GuestMemory memory({path});
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
