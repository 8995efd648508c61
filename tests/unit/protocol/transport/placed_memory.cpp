// Memory at chosen addresses.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "protocol/transport/placed_memory.hpp"
#include "protocol/transport/shared_segment.hpp"

namespace clique::protocol {
namespace {

/// Only this test maps memory there.
std::uint64_t free_address() {
  return PlacedMemory::windows().front().begin;
}

TEST(PlacedMemory, GivenFreeAddressThenMemoryIsThere) {
  const std::uint64_t address = free_address();
  const auto memory = PlacedMemory::at(address, 3 * PlacedMemory::page_size());
  ASSERT_NE(nullptr, memory);
  EXPECT_EQ(address, reinterpret_cast<std::uintptr_t>(memory->bytes().data()));
  ASSERT_EQ(3 * PlacedMemory::page_size(), memory->bytes().size());
  EXPECT_TRUE(std::all_of(memory->bytes().begin(), memory->bytes().end(),
                          [](std::byte byte) { return byte == std::byte{0}; }));
  memory->bytes().back() = std::byte{1};
}

TEST(PlacedMemory, GivenAddressInUseThenNullAndWhatIsThereStays) {
  const std::uint64_t address = free_address();
  const auto memory = PlacedMemory::at(address, 2 * PlacedMemory::page_size());
  ASSERT_NE(nullptr, memory);
  memory->bytes()[PlacedMemory::page_size()] = std::byte{7};
  EXPECT_EQ(nullptr, PlacedMemory::at(address, PlacedMemory::page_size()));
  EXPECT_EQ(EEXIST, errno);
  EXPECT_EQ(nullptr, PlacedMemory::at(address + PlacedMemory::page_size(), PlacedMemory::page_size()));
  EXPECT_EQ(std::byte{7}, memory->bytes()[PlacedMemory::page_size()]);
}

TEST(PlacedMemory, GivenSharedMemoryThenItIsThereAsWellAndOutlivesTheFirstMapping) {
  const std::uint64_t address = free_address();
  auto segment = SharedSegment::create(PlacedMemory::page_size() + 100);
  segment->bytes().back() = std::byte{7};
  const auto memory = PlacedMemory::at(address, segment->bytes());
  ASSERT_NE(nullptr, memory);
  EXPECT_EQ(address, reinterpret_cast<std::uintptr_t>(memory->bytes().data()));
  ASSERT_EQ(segment->bytes().size(), memory->bytes().size());
  EXPECT_EQ(std::byte{7}, memory->bytes().back());
  memory->bytes().front() = std::byte{8};
  EXPECT_EQ(std::byte{8}, segment->bytes().front());
  EXPECT_EQ(nullptr, PlacedMemory::at(address, segment->bytes()));
  EXPECT_EQ(EEXIST, errno);
  segment.reset();
  EXPECT_EQ(std::byte{7}, memory->bytes().back());
}

TEST(PlacedMemory, GivenMemoryThatIsNotSharedThenNullAndTheAddressStaysFree) {
  const std::uint64_t address = free_address();
  const auto other = PlacedMemory::at(address + PlacedMemory::kGranule, PlacedMemory::page_size());
  ASSERT_NE(nullptr, other);
  EXPECT_EQ(nullptr, PlacedMemory::at(address, other->bytes()));
  EXPECT_NE(nullptr, PlacedMemory::at(address, PlacedMemory::page_size()));
}

TEST(PlacedMemory, GivenForbiddenAccessThenTheSystemRefusesItToo) {
  const auto memory = PlacedMemory::at(free_address(), PlacedMemory::page_size());
  ASSERT_NE(nullptr, memory);
  std::array<int, 2> ends{};
  ASSERT_EQ(0, ::pipe(ends.data()));
  EXPECT_EQ(1, ::write(ends[1], memory->bytes().data(), 1));
  memory->forbid_access();
  EXPECT_EQ(-1, ::write(ends[1], memory->bytes().data(), 1));
  EXPECT_EQ(EFAULT, errno);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(PlacedMemory, GivenMemoryThatWentThenItsAddressIsFreeAgain) {
  const std::uint64_t address = free_address();
  for (int i = 0; i < 3; ++i) EXPECT_NE(nullptr, PlacedMemory::at(address, 100));
}

TEST(PlacedMemory, GivenMoreThanThereIsThenNull) {
  EXPECT_EQ(nullptr, PlacedMemory::at(free_address(), std::size_t{1} << 60U));
}

}  // namespace
}  // namespace clique::protocol
