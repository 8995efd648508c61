#include "icd/remote/transfers/guest_memory.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "protocol/fd.hpp"
#include "protocol/transport/shared_memory.hpp"

namespace clique::icd {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using protocol::SharedMemory;
using protocol::SharedSegment;

/// A folder as /sys/bus/pci/devices.
class GuestMemoryDevices : public testing::Test {
 protected:
  GuestMemoryDevices() {
    std::string name = testing::TempDir() + "devices-XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~GuestMemoryDevices() override { fs::remove_all(folder_); }

  fs::path add(const std::string& name, const std::string& vendor, const std::string& device) const {
    fs::create_directories(folder_ / name);
    std::ofstream(folder_ / name / "vendor") << vendor << '\n';
    std::ofstream(folder_ / name / "device") << device << '\n';
    const fs::path memory = folder_ / name / "resource2";
    std::ofstream(memory).flush();
    fs::resize_file(memory, protocol::kGuestMemoryHead + SharedMemory::kBytes);
    return memory;
  }
  static std::shared_ptr<SharedSegment> part(const fs::path& memory, std::uint64_t at, std::size_t size) {
    return SharedSegment::part_of(Fd(::open(memory.c_str(), O_RDWR | O_CLOEXEC)), at, size);
  }
  static protocol::GuestMemoryId mark(const fs::path& memory) {
    return protocol::write_guest_memory_head(*part(memory, 0, protocol::kGuestMemoryHead));
  }

  fs::path folder_;
};

TEST_F(GuestMemoryDevices, GivenAMarkedMemoryAmongOthersThenItIsFound) {
  mark(add("0000:00:01.0", "0x8086", "0x1110"));
  mark(add("0000:00:02.0", "0x1af4", "0x1000"));
  add("0000:00:03.0", "0x1af4", "0x1110");
  EXPECT_FALSE(find_guest_memory("", folder_));
  const fs::path memory = add("0000:00:04.0", "0x1af4", "0x1110");
  const auto id = mark(memory);
  const auto found = find_guest_memory("", folder_);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->file, memory);
  EXPECT_EQ(found->id, id);
}

TEST_F(GuestMemoryDevices, GivenNoDevicesThenNothingIsFound) {
  EXPECT_FALSE(find_guest_memory("", folder_));
  EXPECT_FALSE(find_guest_memory("", folder_ / "none"));
  EXPECT_FALSE(find_guest_memory(folder_ / "none", folder_));
  const fs::path short_one = folder_ / "short";
  std::ofstream(short_one) << "clqguest";
  EXPECT_FALSE(find_guest_memory(short_one, folder_));
}

TEST_F(GuestMemoryDevices, GivenTheWorkerHasPreparedTheRegionThenItIsTaken) {
  const fs::path memory = add("0000:00:04.0", "0x1af4", "0x1110");
  EXPECT_FALSE(take_guest_region(memory, protocol::kGuestMemoryHead, 1ms));
  const auto worker = SharedMemory::create_in(part(memory, protocol::kGuestMemoryHead, SharedMemory::kBytes));
  EXPECT_TRUE(take_guest_region(memory, protocol::kGuestMemoryHead, 1s));
  EXPECT_TRUE(worker->possessed());
}

TEST_F(GuestMemoryDevices, GivenOffersThatLieOutsideThenTheyAreNotTaken) {
  const fs::path memory = add("0000:00:04.0", "0x1af4", "0x1110");
  for (const std::uint64_t at :
       {std::uint64_t{0}, std::uint64_t{4096}, std::uint64_t{protocol::kGuestMemoryHead + 1},
        std::uint64_t{protocol::kGuestMemoryHead + 4096}, ~std::uint64_t{0}, ~std::uint64_t{0} - 4095})
    EXPECT_FALSE(take_guest_region(memory, at, 1ms)) << at;
  EXPECT_FALSE(take_guest_region(folder_ / "none", protocol::kGuestMemoryHead, 1ms));
}

}  // namespace

}  // namespace clique::icd
