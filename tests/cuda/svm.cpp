// Buffers with addresses: shared virtual memory on a GPU.
#include "protocol/transport/placed_memory.hpp"
#include "session.hpp"

namespace clique::test {
namespace {

class CudaSvm : public testing::Test {
 protected:
  int number(ObjectId buffer, std::uint64_t offset) {
    const CommandId id = ++id_;
    client_.send(ReadBuffer{command(id), 0, buffer, offset, sizeof(int)});
    const auto bytes = client_.data(id);
    EXPECT_EQ(client_.ended(id).status, 0);
    int value = -1;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }

  FakeNode node_;
  FakeGpuClient client_{node_};
  const std::uint64_t address_ = PlacedMemory::windows().front().begin;

 private:
  CommandId id_ = 1000;
};

TEST_F(CudaSvm, GivenPointerThenTheKernelUsesWhatIsThere) {
  constexpr std::uint64_t kSize = 5'000'000;
  client_.send(CreateBuffer{20, kContext, 1, kSize, address_},
               CreateBuffer{21, kContext, 1, 64, address_ + PlacedMemory::kGranule},
               CreateSubBuffer{22, 20, 1, 4'000'004, 8}, FillBuffer{command(100, 0), 20, Bytes{0}, 0, kSize},
               RunKernel{command(101), kIncrement, {pointer_arg(0, 20, 4'000'008)}, {}, {1}, {}, {21}},
               RunKernel{command(102), kIncrement, {object_arg(0, 22)}, {}, {2}, {}},
               RunKernel{command(103), kIncrement, {pointer_arg(0, 22, 4)}, {}, {1}, {}});
  for (const CommandId id : {101, 102, 103}) EXPECT_EQ(client_.ended(id).status, 0) << id;
  EXPECT_EQ(number(20, 4'000'004), 1);
  EXPECT_EQ(number(20, 4'000'008), 3);
  EXPECT_EQ(number(20, 4'000'012), 0);
}

TEST_F(CudaSvm, GivenAddressThatCannotBeHadThenWhatUsesTheBufferFails) {
  client_.send(CreateBuffer{20, kContext, 1, 64, address_}, CreateBuffer{21, kContext, 1, 64, address_},
               CreateBuffer{22, kContext, 1, 64, address_ + PlacedMemory::kGranule + 4096},
               CreateBuffer{23, kContext, 1, ~std::uint64_t{0} - address_, address_});
  CommandId id = 100;
  for (const ObjectId buffer : {21, 22, 23}) {
    ++id;
    client_.send(FillBuffer{command(id), buffer, Bytes{1}, 0, 64},
                 RunKernel{command(id + 10), kIncrement, {pointer_arg(0, buffer, 0)}, {}, {1}, {}},
                 RunKernel{command(id + 20), kIncrement, {pointer_arg(0, 20, 0)}, {}, {1}, {}, {buffer}});
    for (const CommandId failed : {id, id + 10, id + 20})
      EXPECT_EQ(client_.ended(failed).status, CL_MEM_OBJECT_ALLOCATION_FAILURE) << failed;
  }
}

TEST_F(CudaSvm, GivenReleasedBufferThenItsAddressIsFreeAgain) {
  for (ObjectId id = 20; id < 23; ++id) {
    client_.send(CreateBuffer{id, kContext, 1, 64, address_},
                 FillBuffer{command(100 + id), id, Bytes{1}, 0, 64});
    EXPECT_EQ(client_.ended(100 + id).status, 0);
    client_.send(Release{{id}, {100 + id}});
  }
}

TEST_F(CudaSvm, GivenPointersThatBreakARuleThenTheSessionEnds) {
  KernelArg short_offset = pointer_arg(0, 20, 0);
  short_offset.value.pop_back();
  const auto launch = [](KernelArg arg, std::vector<ObjectId> reached) {
    return RunKernel{command(100), kIncrement, {std::move(arg)}, {}, {1}, {}, std::move(reached)};
  };
  for (const RunKernel& wrong :
       {launch(pointer_arg(0, 20, 64), {}), launch(pointer_arg(0, 21, 0), {}), launch(short_offset, {}),
        launch(pointer_arg(0, 20, 0), {21}), launch(pointer_arg(0, 20, 0), {99})}) {
    FakeGpuClient client(node_);
    client.send(CreateBuffer{20, kContext, 1, 64, address_}, CreateBuffer{21, kContext, 1, 64}, wrong);
    EXPECT_NE(client.next<SessionEnded>().reason, "");
  }
}

TEST_F(CudaSvm, GivenBufferInASegmentThenTheSessionEnds) {
  client_.send(CreateBuffer{20, kContext, 1, 64, address_, 900});
  EXPECT_NE(client_.next<SessionEnded>().reason.find("segment 900"), std::string::npos);
}

}  // namespace
}  // namespace clique::test
