// Buffers with addresses: shared virtual memory as a worker sees it.
#include "harness.hpp"
#include "ids.hpp"
#include "protocol/transport/placed_memory.hpp"
#include "protocol/transport/shared_offer.hpp"
#include "protocol/transport/shared_segment.hpp"

namespace clique::test {
namespace {

constexpr const char* kSvmKernels = R"(
  kernel void follow(global int* global* where, int value) { **where = value; }
  kernel void add(global int* data, int amount) { *data += amount; }
)";
constexpr std::int32_t kAllocationFailure = -4;

class Svm : public testing::Test {
 protected:
  Svm() {
    client_.set_up(kSvmKernels);
    client_.send(CreateKernel{kKernel, kProgram, "follow"}, CreateKernel{kOtherKernel, kProgram, "add"});
  }
  /// Gives segment 900. @returns why the worker refuses it.
  static std::string give(const Client& client, const SharedSegment& segment, std::uint64_t address) {
    return give_segment(client.address.shared, client.address.client.secret, 900, segment, address,
                        std::chrono::seconds(2));
  }
  template <typename T>
  T read(CommandId id, ObjectId buffer, std::uint64_t offset) {
    T value{};
    client_.send(ReadBuffer{command(id), 0, buffer, offset, sizeof value});
    const auto data = client_.data(id);
    EXPECT_EQ(client_.ended(id).status, 0);
    EXPECT_EQ(data.size(), sizeof value);
    if (data.size() == sizeof value) std::memcpy(&value, data.data(), sizeof value);
    return value;
  }

  Node node_;
  Client client_{node_};
  const std::uint64_t address_ = PlacedMemory::windows().front().begin;
};

TEST_F(Svm, GivenPointersThenKernelsFollowThem) {
  constexpr CommandId kWrite = 100, kFirstLaunch = 101, kSecondLaunch = 102;
  const std::uint64_t target = address_ + 8192 + 12;
  client_.send(
      CreateBuffer{10, kContext, kReadWrite, 100, address_},
      CreateBuffer{11, kContext, kReadWrite, 100, address_ + 8192},
      WriteBuffer{command(kWrite, 0), 10, 16, payload(&target, sizeof target)},
      RunKernel{command(kFirstLaunch), kKernel, {pointer_arg(0, 10, 16), value_arg(1, 5)}, {}, {1}, {}, {11}},
      RunKernel{
          command(kSecondLaunch), kOtherKernel, {pointer_arg(0, 11, 12), value_arg(1, 2)}, {}, {1}, {}});
  EXPECT_EQ(client_.ended(kFirstLaunch).status, 0);
  EXPECT_EQ(client_.ended(kSecondLaunch).status, 0);
  EXPECT_EQ(read<int>(103, 11, 12), 7);
}

TEST_F(Svm, GivenPartsOfABufferWithAnAddressThenTheyMayBeginAnywhere) {
  constexpr CommandId kFill = 100, kFirstLaunch = 101, kSecondLaunch = 102;
  client_.send(
      CreateBuffer{10, kContext, kReadWrite, 100, address_}, CreateSubBuffer{11, 10, kReadWrite, 4, 20},
      CreateSubBuffer{12, 11, kReadWrite, 8, 8}, FillBuffer{command(kFill, 0), 10, Bytes{0}, 0, 100},
      RunKernel{command(kFirstLaunch), kOtherKernel, {object_arg(0, 12), value_arg(1, 3)}, {}, {1}, {}},
      RunKernel{command(kSecondLaunch), kOtherKernel, {pointer_arg(0, 12, 4), value_arg(1, 4)}, {}, {1}, {}});
  EXPECT_EQ(client_.ended(kSecondLaunch).status, 0);
  EXPECT_EQ(read<int>(103, 10, 12), 3);
  EXPECT_EQ(read<int>(104, 10, 16), 4);
  EXPECT_EQ(read<int>(105, 11, 8), 3);
}

TEST_F(Svm, GivenAddressInUseThenWhatUsesTheBufferFails) {
  constexpr CommandId kFill = 100, kFirstLaunch = 101, kSecondLaunch = 102;
  client_.send(
      CreateBuffer{10, kContext, kReadWrite, 100, address_},
      CreateBuffer{11, kContext, kReadWrite, 100, address_}, FillBuffer{command(kFill), 11, Bytes{1}, 0, 100},
      RunKernel{command(kFirstLaunch), kOtherKernel, {pointer_arg(0, 11, 0), value_arg(1, 1)}, {}, {1}, {}},
      RunKernel{
          command(kSecondLaunch), kOtherKernel, {pointer_arg(0, 10, 0), value_arg(1, 1)}, {}, {1}, {}, {11}});
  for (const CommandId id : {kFill, kFirstLaunch, kSecondLaunch})
    EXPECT_EQ(client_.ended(id).status, kAllocationFailure) << id;
}

TEST_F(Svm, GivenSegmentThenTheBufferIsTheClientsMemory) {
  constexpr CommandId kFill = 100, kLaunch = 101;
  auto segment = SharedSegment::create(100);
  ASSERT_EQ(give(client_, *segment, address_), "");
  client_.send(
      CreateBuffer{10, kContext, kReadWrite, 100, address_, 900}, FreeSegment{900},
      FillBuffer{command(kFill), 10, Bytes{3}, 0, 100},
      RunKernel{command(kLaunch), kOtherKernel, {pointer_arg(0, 10, 96), value_arg(1, 1)}, {}, {1}, {}});
  EXPECT_EQ(client_.ended(kFill).status, 0);
  EXPECT_EQ(client_.ended(kLaunch).status, 0);
  EXPECT_EQ(segment->bytes()[95], std::byte{3});
  EXPECT_EQ(segment->bytes()[96], std::byte{4});
  segment->bytes()[0] = std::byte{9};
  EXPECT_EQ(read<std::uint8_t>(102, 10, 0), 9);
}

TEST_F(Svm, GivenSegmentsThatBreakARuleThenTheSessionEnds) {
  const std::uint64_t elsewhere = address_ + PlacedMemory::page_size();
  for (const CreateBuffer& wrong : {CreateBuffer{10, kContext, kReadWrite, 100, address_, 901},  // not given
                                    CreateBuffer{10, kContext, kReadWrite, 101, address_, 900},  // larger
                                    CreateBuffer{10, kContext, kReadWrite, 100, 0, 900},         // nowhere
                                    CreateBuffer{10, kContext, kReadWrite, 100, elsewhere, 900}}) {
    Client client(node_);
    client.set_up(kSvmKernels);
    const auto segment = SharedSegment::create(100);
    ASSERT_EQ(give(client, *segment, address_), "");
    client.send(wrong);
    EXPECT_NE(client.next<SessionEnded>().reason.find("segment"), std::string::npos);
  }
}

TEST_F(Svm, GivenSegmentThatCannotBeThereThenItIsRefused) {
  const auto segment = SharedSegment::create(100);
  client_.send(CreateBuffer{10, kContext, kReadWrite, 100, address_});
  client_.finish();
  EXPECT_NE(give(client_, *segment, address_).find("in use"), std::string::npos);
  for (const std::uint64_t impossible : {address_ + 1, ~std::uint64_t{0} - 4095})
    EXPECT_NE(give(client_, *segment, impossible).find("cannot be mapped"), std::string::npos) << impossible;
  EXPECT_EQ(client_.finish().status, 0);
}

TEST_F(Svm, GivenBuffersOverASegmentThenItsAddressIsFreeWhenTheyAreReleased) {
  constexpr CommandId kFill = 100;
  for (ObjectId id = 10; id < 13; ++id) {
    const auto segment = SharedSegment::create(100);
    std::string refusal;
    EXPECT_TRUE(eventually([&] { return (refusal = give(client_, *segment, address_)).empty(); })) << refusal;
    client_.send(CreateBuffer{id, kContext, kReadWrite, 100, address_, 900}, FreeSegment{900},
                 FillBuffer{command(kFill + id), id, Bytes{1}, 0, 100});
    EXPECT_EQ(client_.ended(kFill + id).status, 0);
    EXPECT_EQ(segment->bytes()[99], std::byte{1});
    client_.send(Release{{id}, {kFill + id}});
  }
}

TEST_F(Svm, GivenReleasedBufferThenItsAddressIsFreeAgain) {
  constexpr CommandId kFill = 100;
  for (ObjectId id = 10; id < 13; ++id) {
    client_.send(CreateBuffer{id, kContext, kReadWrite, 100, address_},
                 FillBuffer{command(kFill + id), id, Bytes{1}, 0, 100});
    EXPECT_EQ(client_.ended(kFill + id).status, 0);
    client_.send(Release{{id}, {kFill + id}});
  }
}

TEST_F(Svm, GivenPointersThatBreakARuleThenTheSessionEnds) {
  constexpr CommandId kLaunch = 100;
  KernelArg short_offset = pointer_arg(0, 10, 0);
  short_offset.value.pop_back();
  const auto launch = [](KernelArg arg, std::vector<ObjectId> reached) {
    return RunKernel{command(kLaunch),  kOtherKernel, {std::move(arg), value_arg(1, 1)}, {}, {1}, {},
                     std::move(reached)};
  };
  for (const RunKernel& wrong :
       {launch(pointer_arg(0, 10, 100), {}), launch(pointer_arg(0, 12, 0), {}), launch(short_offset, {}),
        launch(pointer_arg(0, 10, 0), {12}), launch(pointer_arg(0, 10, 0), {13})}) {
    Client client(node_);
    client.set_up(kSvmKernels);
    client.send(CreateKernel{kOtherKernel, kProgram, "add"},
                CreateBuffer{10, kContext, kReadWrite, 100, address_},
                CreateBuffer{12, kContext, kReadWrite, 100}, wrong);
    EXPECT_NE(client.next<SessionEnded>().reason, "");
  }
}

}  // namespace
}  // namespace clique::test
