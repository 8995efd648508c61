#include "protocol/transport/guest_memory.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "protocol/batch.hpp"
#include "protocol/decode_error.hpp"
#include "protocol/messages.hpp"
#include "protocol/transport/shared_memory.hpp"

namespace clique::protocol {

namespace {

class GuestMemoryTest : public testing::Test {
 protected:
  static constexpr std::size_t kRegions = 2;

  GuestMemoryTest() { EXPECT_EQ(::ftruncate(file_.get(), static_cast<off_t>(at(kRegions))), 0); }

  /// Where a region begins.
  static std::uint64_t at(std::size_t number) { return kGuestMemoryHead + number * SharedMemory::kBytes; }
  std::shared_ptr<SharedSegment> region(std::size_t number) const {
    return SharedSegment::part_of(file_, at(number), SharedMemory::kBytes);
  }
  static Batch goodbye() {
    Batch batch;
    batch.add(Goodbye{});
    return batch;
  }

  Fd file_{::memfd_create("guest memory", MFD_CLOEXEC)};
};

TEST_F(GuestMemoryTest, GivenHeadWhenItIsReadThenTheIdIsThere) {
  const auto head = SharedSegment::part_of(file_, 0, kGuestMemoryHead);
  EXPECT_FALSE(read_guest_memory_head(*head));
  const GuestMemoryId id = write_guest_memory_head(*head);
  EXPECT_EQ(read_guest_memory_head(*SharedSegment::part_of(file_, 0, kGuestMemoryHead)), id);
  EXPECT_NE(write_guest_memory_head(*head), id);
}

TEST_F(GuestMemoryTest, GivenPartsOutsideOfTheFileThenTheyAreRefused) {
  const std::uint64_t end = at(kRegions);
  for (const std::uint64_t place : {end, end - SharedMemory::kBytes + 4096, ~std::uint64_t{0},
                                    ~std::uint64_t{4095}, ~std::uint64_t{0} - SharedMemory::kBytes + 1})
    EXPECT_THROW(SharedSegment::part_of(file_, place, SharedMemory::kBytes), DecodeError) << place;
  EXPECT_THROW(SharedSegment::part_of(file_, 0, 0), DecodeError);
  EXPECT_THROW(SharedSegment::part_of(file_, 0, end + 1), DecodeError);
  EXPECT_THROW(SharedSegment::part_of(file_, 1, SharedMemory::kBytes), std::system_error);
}

TEST_F(GuestMemoryTest, GivenSomethingThatIsNoFileThenItIsRefused) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const Fd one(ends[0]);
  const Fd other(ends[1]);
  EXPECT_THROW(SharedSegment::part_of(one, 0, 4096), DecodeError);
}

TEST_F(GuestMemoryTest, GivenRegionOfAnotherSizeThenItIsRefused) {
  const auto small = SharedSegment::part_of(file_, 0, kGuestMemoryHead);
  EXPECT_THROW(SharedMemory::create_in(small), DecodeError);
  EXPECT_THROW(SharedMemory::open_in(small), DecodeError);
}

TEST_F(GuestMemoryTest, GivenNoWorkerYetThenTheGuestCannotOpenTheRegion) {
  EXPECT_THROW(SharedMemory::open_in(region(0)), DecodeError);
  const auto worker = SharedMemory::create_in(region(0));
  EXPECT_TRUE(SharedMemory::open_in(region(0)));
  EXPECT_THROW(SharedMemory::open_in(region(1)), DecodeError);
}

TEST_F(GuestMemoryTest, GivenTheGuestTakesItThenTheWorkerKnows) {
  const auto worker = SharedMemory::create_in(region(0));
  EXPECT_FALSE(worker->possessed());
  SharedMemory::open_in(region(0))->take_possession();
  EXPECT_TRUE(worker->possessed());
  // A later session in the same place begins anew.
  EXPECT_FALSE(SharedMemory::create_in(region(0))->possessed());
}

TEST_F(GuestMemoryTest, GivenBatchesThenTheyArriveInBothDirections) {
  const auto worker = SharedMemory::create_in(region(1));
  const auto guest = SharedMemory::open_in(region(1));
  const std::string text(100'000, 'x');
  Batch batch;
  batch.add(ReadToSegment{});
  PeerData part;
  part.data.bytes = std::as_bytes(std::span(text));
  batch.add(part);
  ASSERT_EQ(guest->try_send(batch), SharedMemory::Sent::Yes);
  Incoming incoming;
  ASSERT_EQ(worker->receive(incoming), SharedMemory::Received::Batch);
  ASSERT_EQ(incoming.frames.size(), 1U);
  EXPECT_EQ(std::memcmp(incoming.frames[0].bytes.data(), text.data(), text.size()), 0);
  Batch answer = goodbye();
  ASSERT_EQ(worker->try_send(answer), SharedMemory::Sent::Yes);
  EXPECT_EQ(guest->receive(incoming), SharedMemory::Received::Batch);
  // The payload's block would keep the memory, and the memory the block.
  guest->forget_loans();
}

TEST_F(GuestMemoryTest, GivenSleeperThenItLooksAgainByItself) {
  const auto worker = SharedMemory::create_in(region(0));
  const auto guest = SharedMemory::open_in(region(0));
  Incoming incoming;
  ASSERT_TRUE(worker->arm());
  Batch batch = goodbye();
  ASSERT_EQ(guest->try_send(batch), SharedMemory::Sent::Yes);
  pollfd doorbell{worker->doorbell(), POLLIN, 0};
  ASSERT_EQ(::poll(&doorbell, 1, 10'000), 1);
  worker->hush();
  EXPECT_EQ(::poll(&doorbell, 1, 0), 0);
  EXPECT_EQ(worker->receive(incoming), SharedMemory::Received::Batch);
}

TEST_F(GuestMemoryTest, GivenOneSessionsMemoryIsWrittenAtRandomThenAnotherIsUntouched) {
  const auto worker = SharedMemory::create_in(region(0));
  const auto neighbour = SharedMemory::create_in(region(1));
  const auto neighbours_guest = SharedMemory::open_in(region(1));
  Batch batch = goodbye();
  ASSERT_EQ(neighbours_guest->try_send(batch), SharedMemory::Sent::Yes);
  // What a guest may do: anything, to its own region.
  const auto raw = region(0);
  std::memset(raw->bytes().data() + 64, 0xff, 4U << 20U);
  Incoming incoming;
  EXPECT_THROW(worker->receive(incoming), DecodeError);
  EXPECT_EQ(neighbour->receive(incoming), SharedMemory::Received::Batch);
}

}  // namespace

}  // namespace clique::protocol
