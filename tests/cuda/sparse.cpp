// Sparse buffers: addresses for all bytes, and memory for those that commands use.
#include "session.hpp"

namespace clique::test {
namespace {

constexpr std::uint64_t kMebi = 1U << 20U;
constexpr ObjectId kSparse = 20;
/// More than the session may have.
constexpr std::uint64_t kSparseSize = 100 * kMebi;

class CudaSparse : public testing::Test {
 protected:
  CudaSparse() { client_.send(CreateBuffer{kSparse, kContext, kReadWrite, kSparseSize, 0, 0, true}); }

  int fill(ObjectId buffer, std::uint64_t offset, std::uint64_t size, std::uint8_t value = 0) {
    const CommandId id = ++id_;
    client_.send(FillBuffer{command(id), buffer, Bytes{value}, offset, size});
    return client_.ended(id).status;
  }
  /// One byte of the buffer; -1 if it cannot be read.
  int byte(ObjectId buffer, std::uint64_t offset) {
    const CommandId id = ++id_;
    client_.send(ReadBuffer{command(id), 0, buffer, offset, 1});
    const auto bytes = client_.data(id);
    return client_.ended(id).status == 0 ? std::to_integer<int>(bytes.at(0)) : -1;
  }
  /// Increments 4 numbers, of which the worker is told that they are in these ranges.
  int increment(ObjectId buffer, std::vector<SparseUse> uses) {
    const CommandId id = ++id_;
    client_.send(
        RunKernel{command(id), kIncrement, {object_arg(0, buffer)}, {}, {4}, {4}, {}, {}, std::move(uses)});
    return client_.ended(id).status;
  }

  Node node_{{"--devices", "fake", "--session-memory", "64M"}};
  FakeGpuClient client_{node_};

 private:
  CommandId id_ = 1000;
};

TEST_F(CudaSparse, GivenMoreBytesThanTheSessionMayHaveThenThoseThatAreUsedCount) {
  EXPECT_TRUE(client_.attached.devices.at(0).sparse_buffers);
  EXPECT_EQ(fill(kSparse, 0, 40 * kMebi, 1), 0);
  EXPECT_EQ(fill(kSparse, 90 * kMebi, 10 * kMebi, 2), 0);
  EXPECT_EQ(byte(kSparse, 40 * kMebi - 1), 1);
  EXPECT_EQ(byte(kSparse, kSparseSize - 1), 2);
  EXPECT_EQ(fill(kSparse, 40 * kMebi, 40 * kMebi), CL_MEM_OBJECT_ALLOCATION_FAILURE);
  // What did not fit has taken nothing.
  EXPECT_EQ(fill(kSparse, 40 * kMebi, 14 * kMebi, 3), 0);
  EXPECT_EQ(fill(kSparse, 60 * kMebi, 1), CL_MEM_OBJECT_ALLOCATION_FAILURE);
  EXPECT_EQ(byte(kSparse, 0), 1);
}

TEST_F(CudaSparse, GivenOnlyAPartIsKeptThenTheRestIsFree) {
  ASSERT_EQ(fill(kSparse, 0, 60 * kMebi, 7), 0);
  client_.send(TrimBuffer{kSparse, {{10 * kMebi, 1}, {20 * kMebi - 1, 2}}});
  EXPECT_EQ(fill(kSparse, 60 * kMebi, 40 * kMebi, 8), 0);
  EXPECT_EQ(byte(kSparse, 10 * kMebi), 7);
  EXPECT_EQ(byte(kSparse, 20 * kMebi), 7);
  EXPECT_EQ(byte(kSparse, 99 * kMebi), 8);
  client_.send(TrimBuffer{kSparse, {}});
  EXPECT_EQ(fill(kSparse, 0, 64 * kMebi, 9), 0);
  client_.send(Release{{kSparse}, {}}, CreateBuffer{kOther, kContext, kReadWrite, 64 * kMebi});
  EXPECT_EQ(fill(kOther, 0, 64 * kMebi), 0);
}

TEST_F(CudaSparse, GivenACommandThatRunsThenItsMemoryStaysUntilItHasEnded) {
  constexpr CommandId kSlow = 100, kBehind = 101;
  ASSERT_EQ(fill(kSparse, 0, 32 * kMebi), 0);
  client_.send(RunKernel{command(kSlow), kWait, {value_arg(0, std::uint32_t{100})}, {}, {1}, {1}},
               RunKernel{command(kBehind),
                         kIncrement,
                         {object_arg(0, kSparse)},
                         {},
                         {4},
                         {4},
                         {},
                         {},
                         {{kSparse, {{0, 16}}}}},
               TrimBuffer{kSparse, {}});
  EXPECT_EQ(client_.ended(kBehind).status, 0);
  client_.finish();
  EXPECT_EQ(fill(kSparse, 32 * kMebi, 64 * kMebi), 0);
}

TEST_F(CudaSparse, GivenALaunchThenItHasMemoryForWhatItUses) {
  EXPECT_EQ(increment(kSparse, {{kSparse, {{0, 16}}}}), 0);
  EXPECT_EQ(increment(kSparse, {{kSparse, {{0, 16}, {32 * kMebi, 64 * kMebi}}}}),
            CL_MEM_OBJECT_ALLOCATION_FAILURE);
  // The worker does not let the GPU fault.
  EXPECT_EQ(increment(kSparse, {}), CL_MEM_OBJECT_ALLOCATION_FAILURE);
  client_.send(CreateSubBuffer{kOther, kSparse, kReadWrite, 50 * kMebi, 50 * kMebi});
  EXPECT_EQ(fill(kOther, 30 * kMebi, 16, 1), 0);
  EXPECT_EQ(byte(kSparse, 80 * kMebi), 1);
  EXPECT_EQ(increment(kOther, {{kSparse, {{0, 16}}}}), CL_MEM_OBJECT_ALLOCATION_FAILURE);
  EXPECT_EQ(fill(kOther, 0, 16), 0);
  EXPECT_EQ(increment(kOther, {{kOther, {{0, 16}}}}), 0);
  EXPECT_EQ(byte(kSparse, 50 * kMebi), 1);
}

TEST_F(CudaSparse, GivenCopiesThenBothEndsHaveMemory) {
  constexpr CommandId kCopy = 100, kCopyRect = 101;
  ASSERT_EQ(fill(kSparse, 80 * kMebi, 4 * kMebi, 5), 0);
  client_.send(
      CopyBuffer{command(kCopy), kSparse, kSparse, 80 * kMebi, 3 * kMebi, 4 * kMebi},
      CopyBufferRect{
          command(kCopyRect), kSparse, kSparse, {0, 80, 0}, {0, 40, 0}, {16, 3, 1}, {kMebi, 0}, {kMebi, 0}});
  EXPECT_EQ(client_.ended(kCopy).status, 0);
  EXPECT_EQ(client_.ended(kCopyRect).status, 0);
  EXPECT_EQ(byte(kSparse, 7 * kMebi - 1), 5);
  EXPECT_EQ(byte(kSparse, 42 * kMebi + 15), 5);
}

TEST_F(CudaSparse, GivenAnImageOfASparseBufferThenItFails) {
  constexpr CommandId kFill = 100;
  client_.send(CreateImage{kOther,
                           kContext,
                           kReadWrite,
                           CL_RGBA,
                           CL_UNSIGNED_INT8,
                           CL_MEM_OBJECT_IMAGE1D_BUFFER,
                           {16, 1, 1},
                           0,
                           0,
                           kSparse},
               FillImage{command(kFill), kOther, Bytes(16), {}, {16, 1, 1}});
  EXPECT_EQ(client_.ended(kFill).status, CL_MEM_OBJECT_ALLOCATION_FAILURE);
}

TEST_F(CudaSparse, GivenRangesBeyondTheBufferThenTheSessionEnds) {
  client_.send(TrimBuffer{kSparse, {{kSparseSize - 1, 2}}});
  const auto ended = client_.next<SessionEnded>();
  EXPECT_NE(ended.reason.find("sparse buffer"), std::string::npos) << ended.reason;
}

TEST_F(CudaSparse, GivenALaunchThatUsesBytesBeyondTheBufferThenTheSessionEnds) {
  client_.send(RunKernel{command(100),
                         kIncrement,
                         {object_arg(0, kSparse)},
                         {},
                         {4},
                         {4},
                         {},
                         {},
                         {{kSparse, {{~std::uint64_t{0}, 2}}}}});
  const auto ended = client_.next<SessionEnded>();
  EXPECT_NE(ended.reason.find("sparse buffer"), std::string::npos) << ended.reason;
}

}  // namespace
}  // namespace clique::test
