// Buffers with addresses: shared virtual memory on a GPU, and host memory in which it works.
#include <CL/cl_ext.h>

#include <cstdlib>

#include "protocol/transport/placed_memory.hpp"
#include "protocol/transport/shared_offer.hpp"
#include "protocol/transport/shared_segment.hpp"
#include "session.hpp"

namespace clique::test {
namespace {

class CudaSvm : public testing::Test {
 protected:
  static constexpr ObjectId kPlaced = 20;  ///< a buffer with an address

  int number(ObjectId buffer, std::uint64_t offset) {
    const CommandId id = ++id_;
    client_.send(ReadBuffer{command(id), 0, buffer, offset, sizeof(int)});
    const auto bytes = client_.data(id);
    EXPECT_EQ(client_.ended(id).status, 0);
    int value = -1;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }

  /// Gives kSegment, to be at address_. @returns why the worker refuses it.
  std::string give(const SharedSegment& segment) const {
    return give_segment(client_.address.shared, client_.address.client.secret, kSegment, segment, address_,
                        std::chrono::seconds(2));
  }

  FakeNode node_;
  FakeGpuClient client_{node_};
  const std::uint64_t address_ = PlacedMemory::windows().front().begin;

 private:
  CommandId id_ = 1000;
};

TEST_F(CudaSvm, GivenPointerThenTheKernelUsesWhatIsThere) {
  constexpr std::uint64_t kSize = 5'000'000;
  constexpr ObjectId kReached = 21, kPart = 22;
  client_.send(
      CreateBuffer{kPlaced, kContext, kReadWrite, kSize, address_},
      CreateBuffer{kReached, kContext, kReadWrite, 64, address_ + PlacedMemory::kGranule},
      CreateSubBuffer{kPart, kPlaced, kReadWrite, 4'000'004, 8},
      FillBuffer{command(100, 0), kPlaced, Bytes{0}, 0, kSize},
      RunKernel{command(101), kIncrement, {pointer_arg(0, kPlaced, 4'000'008)}, {}, {1}, {}, {kReached}},
      RunKernel{command(102), kIncrement, {object_arg(0, kPart)}, {}, {2}, {}},
      RunKernel{command(103), kIncrement, {pointer_arg(0, kPart, 4)}, {}, {1}, {}});
  for (const CommandId id : {101, 102, 103}) EXPECT_EQ(client_.ended(id).status, 0) << id;
  EXPECT_EQ(number(kPlaced, 4'000'004), 1);
  EXPECT_EQ(number(kPlaced, 4'000'008), 3);
  EXPECT_EQ(number(kPlaced, 4'000'012), 0);
}

TEST_F(CudaSvm, GivenAddressThatCannotBeHadThenWhatUsesTheBufferFails) {
  constexpr ObjectId kOverlapping = 21, kWithinAGranule = 22, kTooLarge = 23;
  client_.send(
      CreateBuffer{kPlaced, kContext, kReadWrite, 64, address_},
      CreateBuffer{kOverlapping, kContext, kReadWrite, 64, address_},
      CreateBuffer{kWithinAGranule, kContext, kReadWrite, 64, address_ + PlacedMemory::kGranule + 4096},
      CreateBuffer{kTooLarge, kContext, kReadWrite, ~std::uint64_t{0} - address_, address_});
  CommandId id = 100;
  for (const ObjectId buffer : {kOverlapping, kWithinAGranule, kTooLarge}) {
    ++id;
    client_.send(
        FillBuffer{command(id), buffer, Bytes{1}, 0, 64},
        RunKernel{command(id + 10), kIncrement, {pointer_arg(0, buffer, 0)}, {}, {1}, {}},
        RunKernel{command(id + 20), kIncrement, {pointer_arg(0, kPlaced, 0)}, {}, {1}, {}, {buffer}});
    for (const CommandId failed : {id, id + 10, id + 20})
      EXPECT_EQ(client_.ended(failed).status, CL_MEM_OBJECT_ALLOCATION_FAILURE) << failed;
  }
}

TEST_F(CudaSvm, GivenReleasedBufferThenItsAddressIsFreeAgain) {
  for (ObjectId id = kPlaced; id < kPlaced + 3; ++id) {
    client_.send(CreateBuffer{id, kContext, kReadWrite, 64, address_},
                 FillBuffer{command(100 + id), id, Bytes{1}, 0, 64});
    EXPECT_EQ(client_.ended(100 + id).status, 0);
    client_.send(Release{{id}, {100 + id}});
  }
}

TEST_F(CudaSvm, GivenPointersThatBreakARuleThenTheSessionEnds) {
  constexpr ObjectId kPlaceless = 21, kUnknown = 99;
  KernelArg short_offset = pointer_arg(0, kPlaced, 0);
  short_offset.value.pop_back();
  const auto launch = [](KernelArg arg, std::vector<ObjectId> reached) {
    return RunKernel{command(100), kIncrement, {std::move(arg)}, {}, {1}, {}, std::move(reached)};
  };
  for (const RunKernel& wrong :
       {launch(pointer_arg(0, kPlaced, 64), {}), launch(pointer_arg(0, kPlaceless, 0), {}),
        launch(short_offset, {}), launch(pointer_arg(0, kPlaced, 0), {kPlaceless}),
        launch(pointer_arg(0, kPlaced, 0), {kUnknown})}) {
    FakeGpuClient client(node_);
    client.send(CreateBuffer{kPlaced, kContext, kReadWrite, 64, address_},
                CreateBuffer{kPlaceless, kContext, kReadWrite, 64}, wrong);
    EXPECT_NE(client.next<SessionEnded>().reason, "");
  }
}

TEST_F(CudaSvm, GivenSegmentThenTheGpuWorksInTheClientsMemory) {
  constexpr ObjectId kPart = 21;
  const auto segment = SharedSegment::create(5000);
  ASSERT_EQ(give(*segment), "");
  client_.send(CreateBuffer{kPlaced, kContext, kReadWrite, 5000, address_, kSegment}, FreeSegment{kSegment},
               CreateSubBuffer{kPart, kPlaced, kReadWrite, 8, 4},
               FillBuffer{command(100, 0), kPlaced, Bytes{0}, 0, 5000},
               RunKernel{command(101), kIncrement, {pointer_arg(0, kPlaced, 4)}, {}, {2}, {}, {kPlaced}},
               RunKernel{command(102), kIncrement, {object_arg(0, kPart)}, {}, {1}, {}});
  for (const CommandId id : {101, 102}) EXPECT_EQ(client_.ended(id).status, 0) << id;
  auto* const host = reinterpret_cast<int*>(segment->bytes().data());
  EXPECT_EQ(std::vector(host, host + 4), (std::vector{0, 1, 2, 0}));
  host[3] = 41;
  client_.send(RunKernel{command(103), kIncrement, {pointer_arg(0, kPlaced, 12)}, {}, {1}, {}},
               CopyBuffer{command(104, 0), kPlaced, kPlaced, 12, 4000, 4});
  EXPECT_EQ(number(kPlaced, 4000), 42);
  EXPECT_EQ(host[1000], 42);
}

TEST_F(CudaSvm, GivenReleasedBufferThenCommandsBeforeUseItsSegmentAndItsAddressIsFreeAfterThem) {
  for (ObjectId id = kPlaced; id < kPlaced + 3; ++id) {
    const auto segment = SharedSegment::create(64);
    std::string refusal;
    EXPECT_TRUE(eventually([&] { return (refusal = give(*segment)).empty(); })) << refusal;
    client_.send(CreateBuffer{id, kContext, kReadWrite, 64, address_, kSegment}, FreeSegment{kSegment},
                 RunKernel{command(100), kWait, {value_arg(0, 500)}, {}, {1}, {}},
                 FillBuffer{command(101), id, Bytes{7}, 0, 64}, Release{{id}, {}});
    EXPECT_EQ(give(*segment).find("they cannot be mapped"), 0U) << "in use, until the commands have ended";
    EXPECT_EQ(client_.ended(101).status, 0);
    EXPECT_EQ(segment->bytes().back(), std::byte{7});
    client_.send(Release{{}, {100, 101}});
  }
}

TEST_F(CudaSvm, GivenCopiesWithinHostMemoryThenOtherQueuesDoNotWaitForThem) {
  constexpr ObjectId kPlaceless = 21;
  constexpr std::uint64_t kHalf = 100'000;  // more than a small read
  const auto segment = SharedSegment::create(2 * kHalf);
  ASSERT_EQ(give(*segment), "");
  const std::vector<std::byte> written(kHalf, std::byte{5});
  client_.send(CreateBuffer{kPlaced, kContext, kReadWrite, 2 * kHalf, address_, kSegment},
               CreateBuffer{kPlaceless, kContext, kReadWrite, 64},
               RunKernel{command(100, 0), kWait, {value_arg(0, 1000)}, {}, {1}, {}},
               WriteBuffer{command(101, 0), kPlaced, 0, payload(written.data(), kHalf)},
               CopyBuffer{command(102, 0), kPlaced, kPlaced, 1, kHalf + 1, kHalf - 1},
               ReadBuffer{command(103), 0, kPlaced, kHalf, kHalf},
               FillBuffer{command(104, Command::kReport, {}, kOutOfOrder), kPlaceless, Bytes{1}, 0, 64});
  EXPECT_EQ(client_.next<EventState>([](const EventState& state) { return state.status <= 0; }).command,
            104U);
  const auto read = client_.data(103);
  EXPECT_EQ(client_.ended(103).status, 0);
  ASSERT_EQ(read.size(), kHalf);
  EXPECT_EQ(read.front(), std::byte{0});
  EXPECT_EQ(std::vector(read.begin() + 1, read.end()), std::vector(kHalf - 1, std::byte{5}));
  EXPECT_EQ(std::vector(segment->bytes().begin(), segment->bytes().begin() + kHalf), written);
}

TEST_F(CudaSvm, GivenRecordingThatCopiesWithinHostMemoryThenEachRunCopies) {
  constexpr ObjectId kCopying = 30;
  const auto segment = SharedSegment::create(64);
  ASSERT_EQ(give(*segment), "");
  Batch batch;
  batch.add(RunKernel{{}, kIncrement, {pointer_arg(0, kPlaced, 0)}, {}, {1}, {}});
  batch.add(CopyBuffer{{}, kPlaced, kPlaced, 0, 32, sizeof(int)});
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(batch.records().data());
  client_.send(CreateBuffer{kPlaced, kContext, kReadWrite, 64, address_, kSegment},
               DefineRecording{kCopying, {bytes, bytes + batch.size()}},
               RunRecording{command(100, Command::kReport), kCopying},
               RunRecording{command(101, Command::kReport), kCopying});
  EXPECT_EQ(client_.ended(100).status, 0);
  EXPECT_EQ(client_.ended(101).status, 0);
  EXPECT_EQ(number(kPlaced, 32), 2);
}

TEST_F(CudaSvm, GivenSegmentThatTheDriverDoesNotPinThenItIsRefused) {
  const auto segment = SharedSegment::create((1U << 30U) + 1);
  EXPECT_NE(give(*segment).find("the driver cannot pin them"), std::string::npos);
  // Nothing stays there.
  EXPECT_EQ(give(*SharedSegment::create(64)), "");
}

TEST_F(CudaSvm, GivenSegmentThatWasSharedElsewhereThenTheSessionEnds) {
  const auto segment = SharedSegment::create(64);
  ASSERT_EQ(give(*segment), "");
  client_.send(CreateBuffer{kPlaced, kContext, kReadWrite, 64, address_ + 4096, kSegment});
  EXPECT_NE(client_.next<SessionEnded>().reason.find("segment 900"), std::string::npos);
}

TEST_F(CudaSvm, GivenSegmentThatIsNotSharedThenTheSessionEnds) {
  client_.send(CreateBuffer{kPlaced, kContext, kReadWrite, 64, address_, kSegment});
  EXPECT_NE(client_.next<SessionEnded>().reason.find("segment 900"), std::string::npos);
}

/// Of host allocations, on a GPU where this variable is set for the driver.
cl_bitfield host_capabilities(const char* variable) {
  ::setenv(variable, "1", 1);
  const FakeNode node;
  ::unsetenv(variable);
  const FakeGpuClient client(node);
  cl_bitfield value = ~cl_bitfield{0};
  for (const Property& property : client.attached.devices.at(0).properties)
    if (property.name == CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL)
      std::memcpy(&value, property.value.data(), sizeof value);
  return value;
}

TEST(CudaSvmCapabilities, GivenAttributesOfTheGpuThenHostAllocationsAreAsTheySay) {
  const cl_bitfield access =
      CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL | CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ACCESS_INTEL;
  EXPECT_EQ(host_capabilities("FAKE_CUDA_NOTHING"), access);
  EXPECT_EQ(host_capabilities("FAKE_CUDA_HOST_ATOMICS"),
            access | CL_UNIFIED_SHARED_MEMORY_ATOMIC_ACCESS_INTEL);
  EXPECT_EQ(host_capabilities("FAKE_CUDA_OTHER_ADDRESSES"), 0U);
}

TEST(CudaSvmCapabilities, GivenOtherAddressesOnTheGpuThenSegmentsAreRefused) {
  ::setenv("FAKE_CUDA_OTHER_ADDRESSES", "1", 1);
  const FakeNode node;
  ::unsetenv("FAKE_CUDA_OTHER_ADDRESSES");
  const FakeGpuClient client(node);
  const auto segment = SharedSegment::create(64);
  EXPECT_NE(give_segment(client.address.shared, client.address.client.secret, kSegment, *segment,
                         PlacedMemory::windows().front().begin, std::chrono::seconds(2))
                .find("the GPU cannot use them"),
            std::string::npos);
}

}  // namespace
}  // namespace clique::test
