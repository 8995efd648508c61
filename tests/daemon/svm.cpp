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
  static constexpr ObjectId kPlaced = 10;  ///< a buffer with an address

  Svm() {
    client_.set_up(kSvmKernels);
    client_.send(CreateKernel{kKernel, kProgram, "follow"}, CreateKernel{kOtherKernel, kProgram, "add"});
  }
  /// Gives kSegment. @returns why the worker refuses it.
  static std::string give(const Client& client, const SharedSegment& segment, std::uint64_t address) {
    return give_segment(client.address.shared, client.address.client.secret, kSegment, segment, address,
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
  constexpr ObjectId kTarget = 11;
  const std::uint64_t target = address_ + 8192 + 12;
  client_.send(
      CreateBuffer{kPlaced, kContext, kReadWrite, 100, address_},
      CreateBuffer{kTarget, kContext, kReadWrite, 100, address_ + 8192},
      WriteBuffer{command(kWrite, 0), kPlaced, 16, payload(&target, sizeof target)},
      RunKernel{command(kFirstLaunch),
                kKernel,
                {pointer_arg(0, kPlaced, 16), value_arg(1, 5)},
                {},
                {1},
                {},
                {kTarget}},
      RunKernel{
          command(kSecondLaunch), kOtherKernel, {pointer_arg(0, kTarget, 12), value_arg(1, 2)}, {}, {1}, {}});
  EXPECT_EQ(client_.ended(kFirstLaunch).status, 0);
  EXPECT_EQ(client_.ended(kSecondLaunch).status, 0);
  EXPECT_EQ(read<int>(103, kTarget, 12), 7);
}

TEST_F(Svm, GivenPartsOfABufferWithAnAddressThenTheyMayBeginAnywhere) {
  constexpr CommandId kFill = 100, kFirstLaunch = 101, kSecondLaunch = 102;
  constexpr ObjectId kPart = 11, kPartOfPart = 12;
  client_.send(
      CreateBuffer{kPlaced, kContext, kReadWrite, 100, address_},
      CreateSubBuffer{kPart, kPlaced, kReadWrite, 4, 20},
      CreateSubBuffer{kPartOfPart, kPart, kReadWrite, 8, 8},
      FillBuffer{command(kFill, 0), kPlaced, Bytes{0}, 0, 100},
      RunKernel{
          command(kFirstLaunch), kOtherKernel, {object_arg(0, kPartOfPart), value_arg(1, 3)}, {}, {1}, {}},
      RunKernel{command(kSecondLaunch),
                kOtherKernel,
                {pointer_arg(0, kPartOfPart, 4), value_arg(1, 4)},
                {},
                {1},
                {}});
  EXPECT_EQ(client_.ended(kSecondLaunch).status, 0);
  EXPECT_EQ(read<int>(103, kPlaced, 12), 3);
  EXPECT_EQ(read<int>(104, kPlaced, 16), 4);
  EXPECT_EQ(read<int>(105, kPart, 8), 3);
}

TEST_F(Svm, GivenAddressInUseThenWhatUsesTheBufferFails) {
  constexpr CommandId kFill = 100, kFirstLaunch = 101, kSecondLaunch = 102;
  constexpr ObjectId kOverlapping = 11;
  client_.send(CreateBuffer{kPlaced, kContext, kReadWrite, 100, address_},
               CreateBuffer{kOverlapping, kContext, kReadWrite, 100, address_},
               FillBuffer{command(kFill), kOverlapping, Bytes{1}, 0, 100},
               RunKernel{command(kFirstLaunch),
                         kOtherKernel,
                         {pointer_arg(0, kOverlapping, 0), value_arg(1, 1)},
                         {},
                         {1},
                         {}},
               RunKernel{command(kSecondLaunch),
                         kOtherKernel,
                         {pointer_arg(0, kPlaced, 0), value_arg(1, 1)},
                         {},
                         {1},
                         {},
                         {kOverlapping}});
  for (const CommandId id : {kFill, kFirstLaunch, kSecondLaunch})
    EXPECT_EQ(client_.ended(id).status, kAllocationFailure) << id;
}

TEST_F(Svm, GivenSegmentThenTheBufferIsTheClientsMemory) {
  constexpr CommandId kFill = 100, kLaunch = 101;
  auto segment = SharedSegment::create(100);
  ASSERT_EQ(give(client_, *segment, address_), "");
  client_.send(
      CreateBuffer{kPlaced, kContext, kReadWrite, 100, address_, kSegment}, FreeSegment{kSegment},
      FillBuffer{command(kFill), kPlaced, Bytes{3}, 0, 100},
      RunKernel{command(kLaunch), kOtherKernel, {pointer_arg(0, kPlaced, 96), value_arg(1, 1)}, {}, {1}, {}});
  EXPECT_EQ(client_.ended(kFill).status, 0);
  EXPECT_EQ(client_.ended(kLaunch).status, 0);
  EXPECT_EQ(segment->bytes()[95], std::byte{3});
  EXPECT_EQ(segment->bytes()[96], std::byte{4});
  segment->bytes()[0] = std::byte{9};
  EXPECT_EQ(read<std::uint8_t>(102, kPlaced, 0), 9);
}

TEST_F(Svm, GivenSegmentsThatBreakARuleThenTheSessionEnds) {
  constexpr ObjectId kOtherSegment = 901;
  const std::uint64_t elsewhere = address_ + PlacedMemory::page_size();
  for (const CreateBuffer& wrong :
       {CreateBuffer{kPlaced, kContext, kReadWrite, 100, address_, kOtherSegment},  // not given
        CreateBuffer{kPlaced, kContext, kReadWrite, 101, address_, kSegment},       // larger
        CreateBuffer{kPlaced, kContext, kReadWrite, 100, 0, kSegment},              // nowhere
        CreateBuffer{kPlaced, kContext, kReadWrite, 100, elsewhere, kSegment}}) {
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
  client_.send(CreateBuffer{kPlaced, kContext, kReadWrite, 100, address_});
  client_.finish();
  EXPECT_NE(give(client_, *segment, address_).find("in use"), std::string::npos);
  for (const std::uint64_t impossible : {address_ + 1, ~std::uint64_t{0} - 4095})
    EXPECT_NE(give(client_, *segment, impossible).find("cannot be mapped"), std::string::npos) << impossible;
  EXPECT_EQ(client_.finish().status, 0);
}

TEST_F(Svm, GivenBuffersOverASegmentThenItsAddressIsFreeWhenTheyAreReleased) {
  constexpr CommandId kFill = 100;
  for (ObjectId id = kPlaced; id < kPlaced + 3; ++id) {
    const auto segment = SharedSegment::create(100);
    std::string refusal;
    EXPECT_TRUE(eventually([&] { return (refusal = give(client_, *segment, address_)).empty(); })) << refusal;
    client_.send(CreateBuffer{id, kContext, kReadWrite, 100, address_, kSegment}, FreeSegment{kSegment},
                 FillBuffer{command(kFill + id), id, Bytes{1}, 0, 100});
    EXPECT_EQ(client_.ended(kFill + id).status, 0);
    EXPECT_EQ(segment->bytes()[99], std::byte{1});
    client_.send(Release{{id}, {kFill + id}});
  }
}

TEST_F(Svm, GivenReleasedBufferThenItsAddressIsFreeAgain) {
  constexpr CommandId kFill = 100;
  for (ObjectId id = kPlaced; id < kPlaced + 3; ++id) {
    client_.send(CreateBuffer{id, kContext, kReadWrite, 100, address_},
                 FillBuffer{command(kFill + id), id, Bytes{1}, 0, 100});
    EXPECT_EQ(client_.ended(kFill + id).status, 0);
    client_.send(Release{{id}, {kFill + id}});
  }
}

TEST_F(Svm, GivenPointersThatBreakARuleThenTheSessionEnds) {
  constexpr CommandId kLaunch = 100;
  constexpr ObjectId kPlaceless = 12, kUnknown = 13;
  KernelArg short_offset = pointer_arg(0, kPlaced, 0);
  short_offset.value.pop_back();
  const auto launch = [](KernelArg arg, std::vector<ObjectId> reached) {
    return RunKernel{command(kLaunch),  kOtherKernel, {std::move(arg), value_arg(1, 1)}, {}, {1}, {},
                     std::move(reached)};
  };
  for (const RunKernel& wrong :
       {launch(pointer_arg(0, kPlaced, 100), {}), launch(pointer_arg(0, kPlaceless, 0), {}),
        launch(short_offset, {}), launch(pointer_arg(0, kPlaced, 0), {kPlaceless}),
        launch(pointer_arg(0, kPlaced, 0), {kUnknown})}) {
    Client client(node_);
    client.set_up(kSvmKernels);
    client.send(CreateKernel{kOtherKernel, kProgram, "add"},
                CreateBuffer{kPlaced, kContext, kReadWrite, 100, address_},
                CreateBuffer{kPlaceless, kContext, kReadWrite, 100}, wrong);
    EXPECT_NE(client.next<SessionEnded>().reason, "");
  }
}

}  // namespace
}  // namespace clique::test
