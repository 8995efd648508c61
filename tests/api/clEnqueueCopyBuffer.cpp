// clEnqueueCopyBuffer: OpenCL 3.0, section 5.2.3.
#include <algorithm>
#include <cstdint>
#include <numeric>

#include "checks.hpp"

namespace clique::test::suite_clEnqueueCopyBuffer {

class clEnqueueCopyBuffer : public ApiTest {
 protected:
  static constexpr size_t kCount = 1024;
  static constexpr size_t kBytes = kCount * sizeof(cl_int);

  void SetUp() override {
    ApiTest::SetUp();
    data.resize(kCount);
    std::iota(data.begin(), data.end(), 1);
    const std::vector<cl_int> zeros(kCount, 0);
    source = buffer(kCount, data.data());
    target = buffer(kCount, zeros.data());
  }
  cl_int copy(cl_mem from, cl_mem to, size_t from_offset, size_t to_offset, size_t size) {
    return ::clEnqueueCopyBuffer(queue, from, to, from_offset, to_offset, size, 0, nullptr, nullptr);
  }
  Mem sub_buffer(cl_mem of, size_t origin, size_t size) {
    const cl_buffer_region region = {origin, size};
    cl_int err = CL_SUCCESS;
    Mem result(clCreateSubBuffer(of, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &err));
    EXPECT_EQ(CL_SUCCESS, err);
    return result;
  }
  std::vector<cl_int> data;
  Mem source;
  Mem target;
};

TEST_F(clEnqueueCopyBuffer, GivenWholeBufferThenItIsCopied) {
  EXPECT_CL(copy(source, target, 0, 0, kBytes));
  EXPECT_EQ(data, read<cl_int>(target, kCount));
  EXPECT_EQ(data, read<cl_int>(source, kCount));
}

TEST_F(clEnqueueCopyBuffer, GivenPartThenOnlyItChanges) {
  EXPECT_CL(copy(source, target, 10 * sizeof(cl_int), 100 * sizeof(cl_int), 5 * sizeof(cl_int)));
  const auto result = read<cl_int>(target, kCount);
  for (size_t i = 0; i < kCount; ++i) {
    const bool inside = i >= 100 && i < 105;
    EXPECT_EQ(inside ? data[i - 90] : 0, result[i]) << i;
  }
}

TEST_F(clEnqueueCopyBuffer, GivenOddOffsetsThenBytesAreExact) {
  EXPECT_CL(copy(source, target, 3, 5, 1001));
  const auto from = read<unsigned char>(source, kBytes);
  const auto to = read<unsigned char>(target, kBytes);
  EXPECT_TRUE(std::equal(from.begin() + 3, from.begin() + 1004, to.begin() + 5));
  EXPECT_EQ(0, to[4]);
  EXPECT_EQ(0, to[1006]);
}

TEST_F(clEnqueueCopyBuffer, GivenDisjointPartsOfOneBufferThenCopied) {
  EXPECT_CL(copy(source, source, 0, kBytes / 2, kBytes / 2));
  std::copy(data.begin(), data.begin() + kCount / 2, data.begin() + kCount / 2);
  EXPECT_EQ(data, read<cl_int>(source, kCount));
}

TEST_F(clEnqueueCopyBuffer, GivenDisjointSubBuffersOfOneBufferThenCopied) {
  const Mem first = sub_buffer(source, 0, kBytes / 2);
  const Mem second = sub_buffer(source, kBytes / 2, kBytes / 2);
  EXPECT_CL(copy(first, second, 0, 0, kBytes / 2));
  std::copy(data.begin(), data.begin() + kCount / 2, data.begin() + kCount / 2);
  EXPECT_EQ(data, read<cl_int>(source, kCount));
}

TEST_F(clEnqueueCopyBuffer, GivenChainOverAllDevicesThenDataArrivesUnchanged) {
  Mem from(source.release_ownership());
  for (int round = 0; round < 2; ++round) {
    for (const cl_device_id each : devices()) {
      queue = make_queue(0, each);
      Mem to = buffer<cl_int>(kCount);
      Event done;
      ASSERT_CL(::clEnqueueCopyBuffer(queue, from, to, 0, 0, kBytes, 0, nullptr, done.out()));
      ASSERT_CL(clFlush(queue));
      ASSERT_CL(clWaitForEvents(1, done.ptr()));
      from = std::move(to);
    }
  }
  EXPECT_EQ(data, read<cl_int>(from, kCount));
}

TEST_F(clEnqueueCopyBuffer, GivenBuffersClosedToTheHostThenTheyCanStillBeCopied) {
  const Mem closed = buffer<cl_int>(kCount, nullptr, CL_MEM_HOST_NO_ACCESS);
  EXPECT_CL(copy(source, closed, 0, 0, kBytes));
  EXPECT_CL(copy(closed, target, 0, 0, kBytes));
  EXPECT_EQ(data, read<cl_int>(target, kCount));
}

TEST_F(clEnqueueCopyBuffer, GivenOverlapInOneBufferThenMemCopyOverlap) {
  EXPECT_EQ(CL_MEM_COPY_OVERLAP, copy(source, source, 0, 0, 8));
  EXPECT_EQ(CL_MEM_COPY_OVERLAP, copy(source, source, 0, 7, 8));
  EXPECT_EQ(CL_MEM_COPY_OVERLAP, copy(source, source, 7, 0, 8));
  EXPECT_CL(copy(source, source, 8, 0, 8));
  EXPECT_CL(copy(source, source, 0, 8, 8));
}

TEST_F(clEnqueueCopyBuffer, GivenOverlapOfTwoSubBuffersThenMemCopyOverlap) {
  const Mem first = sub_buffer(source, 0, kBytes / 2);
  const Mem same = sub_buffer(source, 0, kBytes / 2);
  EXPECT_EQ(CL_MEM_COPY_OVERLAP, copy(first, same, 0, 4, 8));
}

TEST_F(clEnqueueCopyBuffer, GivenRegionOutsideEitherBufferThenInvalidValue) {
  EXPECT_EQ(CL_INVALID_VALUE, copy(source, target, 0, 0, kBytes + 1));
  EXPECT_EQ(CL_INVALID_VALUE, copy(source, target, 1, 0, kBytes));
  EXPECT_EQ(CL_INVALID_VALUE, copy(source, target, 0, 1, kBytes));
  EXPECT_EQ(CL_INVALID_VALUE, copy(source, target, kBytes, 0, 1));
  EXPECT_EQ(CL_INVALID_VALUE, copy(source, target, 0, kBytes, 1));
  EXPECT_EQ(CL_INVALID_VALUE, copy(source, target, 1, 0, SIZE_MAX)) << "the end wraps around";
  EXPECT_EQ(CL_INVALID_VALUE, copy(source, target, SIZE_MAX - 3, 0, 8)) << "the end wraps around";
  EXPECT_EQ(CL_INVALID_VALUE, copy(source, target, 0, SIZE_MAX - 3, 8)) << "the end wraps around";
}

TEST_F(clEnqueueCopyBuffer, GivenObjectThatIsNoBufferThenInvalidMemObject) {
  for (const cl_mem bad : {cl_mem{}, foreign_handle<cl_mem>()}) {
    EXPECT_EQ(CL_INVALID_MEM_OBJECT, copy(bad, target, 0, 0, 4));
    EXPECT_EQ(CL_INVALID_MEM_OBJECT, copy(source, bad, 0, 0, 4));
  }
}

TEST_F(clEnqueueCopyBuffer, GivenBufferOfAnotherContextThenInvalidContext) {
  const OtherContext other;
  EXPECT_EQ(CL_INVALID_CONTEXT, copy(source, other.buffer, 0, 0, 4));
  EXPECT_EQ(CL_INVALID_CONTEXT, copy(other.buffer, target, 0, 0, 4));
}

TEST_F(clEnqueueCopyBuffer, GivenCallThenRulesOfEveryEnqueueHold) {
  const auto enqueue = [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
    return ::clEnqueueCopyBuffer(on, source, target, 0, 0, kBytes, count, list, event);
  };
  expect_enqueue_rules(context, device, CL_COMMAND_COPY_BUFFER, enqueue);
  EXPECT_EQ(data, read<cl_int>(target, kCount));
}

TEST_F(clEnqueueCopyBuffer, GivenFailedEventInWaitListThenNothingIsCopied) {
  expect_failed_event_ends_command(
      context, device, [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
        return ::clEnqueueCopyBuffer(on, source, target, 0, 0, kBytes, count, list, event);
      });
  EXPECT_EQ(std::vector<cl_int>(kCount, 0), read<cl_int>(target, kCount));
}

}  // namespace clique::test::suite_clEnqueueCopyBuffer
