// clEnqueueMapBuffer: OpenCL 3.0, section 5.2.5.
#include <algorithm>
#include <cstdint>
#include <numeric>

#include "checks.hpp"

namespace clique::test::suite_clEnqueueMapBuffer {

class clEnqueueMapBuffer : public ApiTest {
 protected:
  static constexpr size_t kCount = 1024;
  static constexpr size_t kBytes = kCount * sizeof(cl_int);

  void SetUp() override {
    ApiTest::SetUp();
    data.resize(kCount);
    std::iota(data.begin(), data.end(), 1);
    mem = buffer(kCount, data.data());
  }
  /// Maps the buffer, blocking, and returns a pointer to its elements.
  cl_int* map(cl_mem of, cl_map_flags flags, size_t offset, size_t size, cl_int expected = CL_SUCCESS) {
    cl_int err = CL_SUCCESS;
    void* pointer = ::clEnqueueMapBuffer(queue, of, CL_TRUE, flags, offset, size, 0, nullptr, nullptr, &err);
    EXPECT_EQ(expected, err);
    EXPECT_EQ(err == CL_SUCCESS, pointer != nullptr);
    return static_cast<cl_int*>(pointer);
  }
  void unmap(cl_mem of, void* pointer) {
    EXPECT_CL(clEnqueueUnmapMemObject(queue, of, pointer, 0, nullptr, nullptr));
  }
  cl_uint map_count(cl_mem of) { return info<cl_uint>(clGetMemObjectInfo, of, CL_MEM_MAP_COUNT); }
  Mem host_buffer(cl_mem_flags flags, void* host) {
    cl_int err = CL_SUCCESS;
    Mem result(clCreateBuffer(context, flags, kBytes, host, &err));
    EXPECT_EQ(CL_SUCCESS, err);
    return result;
  }
  std::vector<cl_int> data;
  Mem mem;
};

TEST_F(clEnqueueMapBuffer, GivenReadThenLatestDataIsSeen) {
  cl_int* pointer = map(mem, CL_MAP_READ, 0, kBytes);
  ASSERT_NE(nullptr, pointer);
  EXPECT_EQ(data, std::vector<cl_int>(pointer, pointer + kCount));
  unmap(mem, pointer);
  EXPECT_EQ(data, read<cl_int>(mem, kCount));
}

TEST_F(clEnqueueMapBuffer, GivenWriteThenOldDataIsSeenAndNewDataCounts) {
  for (const cl_map_flags flags : {cl_map_flags{CL_MAP_WRITE}, cl_map_flags{CL_MAP_READ | CL_MAP_WRITE}}) {
    cl_int* pointer = map(mem, flags, 0, kBytes);
    ASSERT_NE(nullptr, pointer);
    EXPECT_EQ(data, std::vector<cl_int>(pointer, pointer + kCount));
    for (size_t i = 0; i < kCount; i += 3) pointer[i] = data[i] = -data[i];
    unmap(mem, pointer);
    EXPECT_EQ(data, read<cl_int>(mem, kCount));
  }
}

TEST_F(clEnqueueMapBuffer, GivenWriteInvalidateThenNewDataCountsAndTheRestStays) {
  const size_t first = 100;
  const size_t count = 50;
  cl_int* pointer = map(mem, CL_MAP_WRITE_INVALIDATE_REGION, first * sizeof(cl_int), count * sizeof(cl_int));
  ASSERT_NE(nullptr, pointer);
  for (size_t i = 0; i < count; ++i) pointer[i] = data[first + i] = static_cast<cl_int>(5000 + i);
  unmap(mem, pointer);
  EXPECT_EQ(data, read<cl_int>(mem, kCount));
}

TEST_F(clEnqueueMapBuffer, GivenPartThenPointerIsAtItsBegin) {
  cl_int* pointer = map(mem, CL_MAP_READ | CL_MAP_WRITE, 10 * sizeof(cl_int), 4 * sizeof(cl_int));
  ASSERT_NE(nullptr, pointer);
  EXPECT_EQ(std::vector<cl_int>({11, 12, 13, 14}), std::vector<cl_int>(pointer, pointer + 4));
  pointer[1] = data[11] = -1;
  unmap(mem, pointer);
  EXPECT_EQ(data, read<cl_int>(mem, kCount));
}

TEST_F(clEnqueueMapBuffer, GivenOddOffsetThenBytesAreExact) {
  auto* bytes = reinterpret_cast<unsigned char*>(map(mem, CL_MAP_WRITE, 7, 9));
  ASSERT_NE(nullptr, bytes);
  std::fill_n(bytes, 9, static_cast<unsigned char>(0xEE));
  unmap(mem, bytes);
  std::fill_n(reinterpret_cast<unsigned char*>(data.data()) + 7, 9, static_cast<unsigned char>(0xEE));
  EXPECT_EQ(data, read<cl_int>(mem, kCount));
}

TEST_F(clEnqueueMapBuffer, GivenNonBlockingMapThenDataIsThereWhenTheEventCompletes) {
  cl_int err = CL_SUCCESS;
  Event event;
  auto* pointer = static_cast<cl_int*>(
      ::clEnqueueMapBuffer(queue, mem, CL_FALSE, CL_MAP_READ, 0, kBytes, 0, nullptr, event.out(), &err));
  ASSERT_EQ(CL_SUCCESS, err);
  ASSERT_CL(clWaitForEvents(1, event.ptr()));
  EXPECT_EQ(data, std::vector<cl_int>(pointer, pointer + kCount));
  unmap(mem, pointer);
}

TEST_F(clEnqueueMapBuffer, GivenMapAfterACommandThatWaitsThenItsResultIsSeen) {
  const cl_int pattern = 77;
  const Event gate = user_event();
  ASSERT_CL(clEnqueueFillBuffer(queue, mem, &pattern, sizeof pattern, 0, kBytes, 1, gate.ptr(), nullptr));
  cl_int err = CL_SUCCESS;
  Event event;
  auto* pointer = static_cast<cl_int*>(
      ::clEnqueueMapBuffer(queue, mem, CL_FALSE, CL_MAP_READ, 0, kBytes, 0, nullptr, event.out(), &err));
  ASSERT_EQ(CL_SUCCESS, err);
  ASSERT_CL(clSetUserEventStatus(gate, CL_COMPLETE));
  ASSERT_CL(clWaitForEvents(1, event.ptr()));
  EXPECT_EQ(std::vector<cl_int>(kCount, pattern), std::vector<cl_int>(pointer, pointer + kCount));
  unmap(mem, pointer);
}

TEST_F(clEnqueueMapBuffer, GivenOverlappingReadsThenEachSeesTheData) {
  cl_int* first = map(mem, CL_MAP_READ, 0, kBytes);
  cl_int* second = map(mem, CL_MAP_READ, kBytes / 2, kBytes / 2);
  cl_int* third = map(mem, CL_MAP_READ, 0, kBytes);
  ASSERT_TRUE(first && second && third);
  EXPECT_EQ(3U, map_count(mem));
  EXPECT_EQ(data, std::vector<cl_int>(first, first + kCount));
  unmap(mem, first);
  ASSERT_CL(clFinish(queue));
  EXPECT_EQ(2U, map_count(mem));
  EXPECT_EQ(std::vector<cl_int>(data.begin() + kCount / 2, data.end()),
            std::vector<cl_int>(second, second + kCount / 2));
  EXPECT_EQ(data, std::vector<cl_int>(third, third + kCount));
  EXPECT_EQ(data, read<cl_int>(mem, kCount)) << "what is mapped for reading can be read by commands";
  unmap(mem, second);
  unmap(mem, third);
  ASSERT_CL(clFinish(queue));
  EXPECT_EQ(0U, map_count(mem));
}

TEST_F(clEnqueueMapBuffer, GivenDisjointWritesThenBothCount) {
  cl_int* first = map(mem, CL_MAP_WRITE, 0, kBytes / 2);
  cl_int* second = map(mem, CL_MAP_WRITE_INVALIDATE_REGION, kBytes / 2, kBytes / 2);
  ASSERT_TRUE(first && second);
  std::fill_n(first, kCount / 2, 1);
  std::fill_n(second, kCount / 2, 2);
  unmap(mem, second);
  unmap(mem, first);
  std::fill_n(data.begin(), kCount / 2, 1);
  std::fill_n(data.begin() + kCount / 2, kCount / 2, 2);
  EXPECT_EQ(data, read<cl_int>(mem, kCount));
}

TEST_F(clEnqueueMapBuffer, GivenOverlappingWritesThenInvalidOperation) {
  cl_int* pointer = map(mem, CL_MAP_WRITE, 0, kBytes / 2);
  ASSERT_NE(nullptr, pointer);
  map(mem, CL_MAP_WRITE, kBytes / 2 - 4, 8, CL_INVALID_OPERATION);
  map(mem, CL_MAP_WRITE_INVALIDATE_REGION, 0, 4, CL_INVALID_OPERATION);
  EXPECT_EQ(1U, map_count(mem));
  unmap(mem, pointer);
  pointer = map(mem, CL_MAP_WRITE, 0, kBytes);
  ASSERT_NE(nullptr, pointer) << "allowed again after the unmap";
  unmap(mem, pointer);
}

TEST_F(clEnqueueMapBuffer, GivenUsedHostMemoryThenPointerIsInIt) {
  std::vector<cl_int> host = data;
  const Mem used = host_buffer(CL_MEM_USE_HOST_PTR, host.data());
  cl_int* pointer = map(used, CL_MAP_READ, 0, kBytes);
  EXPECT_EQ(host.data(), pointer);
  unmap(used, pointer);
  pointer = map(used, CL_MAP_READ | CL_MAP_WRITE, 16 * sizeof(cl_int), 64);
  EXPECT_EQ(host.data() + 16, pointer);
  unmap(used, pointer);
}

TEST_F(clEnqueueMapBuffer, GivenUsedHostMemoryThenItHasTheDevicesDataAfterTheMapAndTheHostsAfterTheUnmap) {
  std::vector<cl_int> host = data;
  const Mem used = host_buffer(CL_MEM_USE_HOST_PTR, host.data());
  for (const cl_device_id each : devices()) {
    queue = make_queue(0, each);
    const cl_int pattern = 4711;
    ASSERT_CL(clEnqueueFillBuffer(queue, used, &pattern, sizeof pattern, 0, kBytes, 0, nullptr, nullptr));
    cl_int* pointer = map(used, CL_MAP_READ | CL_MAP_WRITE, 0, kBytes);
    ASSERT_EQ(host.data(), pointer);
    EXPECT_EQ(std::vector<cl_int>(kCount, pattern), host);
    host[5] = -5;
    unmap(used, pointer);
    EXPECT_EQ(-5, read<cl_int>(used, kCount)[5]);
  }
}

TEST_F(clEnqueueMapBuffer, GivenSubBufferOfUsedHostMemoryThenPointerIsInIt) {
  std::vector<cl_int> host(kCount * 2);
  cl_int err = CL_SUCCESS;
  const Mem used(clCreateBuffer(context, CL_MEM_USE_HOST_PTR, 2 * kBytes, host.data(), &err));
  ASSERT_EQ(CL_SUCCESS, err);
  const cl_buffer_region region = {kBytes, kBytes};
  const Mem sub(clCreateSubBuffer(used, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  cl_int* pointer = map(sub, CL_MAP_WRITE, 8, 8);
  EXPECT_EQ(host.data() + kCount + 2, pointer);
  unmap(sub, pointer);
}

TEST_F(clEnqueueMapBuffer, GivenSubBufferThenMappedDataIsTheParents) {
  const cl_buffer_region region = {kBytes / 2, kBytes / 2};
  cl_int err = CL_SUCCESS;
  const Mem sub(clCreateSubBuffer(mem, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  cl_int* pointer = map(sub, CL_MAP_READ | CL_MAP_WRITE, 0, kBytes / 2);
  ASSERT_NE(nullptr, pointer);
  EXPECT_EQ(data[kCount / 2], pointer[0]);
  pointer[3] = data[kCount / 2 + 3] = -1;
  unmap(sub, pointer);
  EXPECT_EQ(data, read<cl_int>(mem, kCount));
}

TEST_F(clEnqueueMapBuffer, GivenAllocatedHostMemoryThenItWorksLikeAnyBuffer) {
  const Mem allocated = host_buffer(CL_MEM_ALLOC_HOST_PTR, nullptr);
  cl_int* pointer = map(allocated, CL_MAP_WRITE_INVALIDATE_REGION, 0, kBytes);
  ASSERT_NE(nullptr, pointer);
  std::copy(data.begin(), data.end(), pointer);
  unmap(allocated, pointer);
  EXPECT_EQ(data, read<cl_int>(allocated, kCount));
}

TEST_F(clEnqueueMapBuffer, GivenMappedPointerThenItCanBeTheHostSideOfATransfer) {
  const Mem other = buffer<cl_int>(kCount);
  cl_int* pointer = map(mem, CL_MAP_READ, 0, kBytes);
  ASSERT_NE(nullptr, pointer);
  ASSERT_CL(clEnqueueWriteBuffer(queue, other, CL_TRUE, 0, kBytes, pointer, 0, nullptr, nullptr));
  unmap(mem, pointer);
  EXPECT_EQ(data, read<cl_int>(other, kCount));
}

TEST_F(clEnqueueMapBuffer, GivenMapOnOneDeviceThenTheNextDeviceSeesWhatWasWritten) {
  for (const cl_device_id writer : devices()) {
    queue = make_queue(0, writer);
    cl_int* pointer = map(mem, CL_MAP_READ | CL_MAP_WRITE, 0, kBytes);
    ASSERT_NE(nullptr, pointer);
    EXPECT_EQ(data, std::vector<cl_int>(pointer, pointer + kCount));
    for (size_t i = 0; i < kCount; ++i) data[i] = ++pointer[i];
    unmap(mem, pointer);
    ASSERT_CL(clFinish(queue));
    for (const cl_device_id reader : devices()) {
      queue = make_queue(0, reader);
      EXPECT_EQ(data, read<cl_int>(mem, kCount));
    }
  }
}

TEST_F(clEnqueueMapBuffer, GivenLargeBufferThenAllOfItIsMapped) {
  const size_t count = (3U << 20) / sizeof(cl_int) + 5;
  const Mem large = buffer<cl_int>(count);
  cl_int* pointer = map(large, CL_MAP_WRITE_INVALIDATE_REGION, 0, count * sizeof(cl_int));
  ASSERT_NE(nullptr, pointer);
  std::iota(pointer, pointer + count, 3);
  unmap(large, pointer);
  std::vector<cl_int> expected(count);
  std::iota(expected.begin(), expected.end(), 3);
  EXPECT_EQ(expected, read<cl_int>(large, count));
}

TEST_F(clEnqueueMapBuffer, GivenRegionOutsideTheBufferThenInvalidValue) {
  map(mem, CL_MAP_READ, 0, kBytes + 1, CL_INVALID_VALUE);
  map(mem, CL_MAP_READ, kBytes, 1, CL_INVALID_VALUE);
  map(mem, CL_MAP_READ, 1, SIZE_MAX, CL_INVALID_VALUE);
  map(mem, CL_MAP_READ, SIZE_MAX - 3, 8, CL_INVALID_VALUE);
  map(mem, CL_MAP_READ, 0, 0, CL_INVALID_VALUE);
  EXPECT_EQ(0U, map_count(mem));
}

TEST_F(clEnqueueMapBuffer, GivenBadFlagsThenInvalidValue) {
  map(mem, CL_MAP_READ | CL_MAP_WRITE_INVALIDATE_REGION, 0, 16, CL_INVALID_VALUE);
  map(mem, CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION, 0, 16, CL_INVALID_VALUE);
  map(mem, cl_map_flags{1} << 20, 0, 16, CL_INVALID_VALUE);
  map(mem, CL_MAP_READ | cl_map_flags{1} << 40, 0, 16, CL_INVALID_VALUE);
}

TEST_F(clEnqueueMapBuffer, GivenBufferClosedToTheHostThenInvalidOperation) {
  for (const cl_mem_flags flags : {CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_NO_ACCESS}) {
    const Mem closed = buffer<cl_int>(kCount, nullptr, flags);
    map(closed, CL_MAP_READ, 0, 16, CL_INVALID_OPERATION);
  }
  for (const cl_mem_flags flags : {CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_NO_ACCESS}) {
    const Mem closed = buffer<cl_int>(kCount, nullptr, flags);
    map(closed, CL_MAP_WRITE, 0, 16, CL_INVALID_OPERATION);
    map(closed, CL_MAP_WRITE_INVALIDATE_REGION, 0, 16, CL_INVALID_OPERATION);
  }
}

TEST_F(clEnqueueMapBuffer, GivenObjectThatIsNoBufferThenInvalidMemObject) {
  map(nullptr, CL_MAP_READ, 0, 16, CL_INVALID_MEM_OBJECT);
  map(foreign_handle<cl_mem>(), CL_MAP_READ, 0, 16, CL_INVALID_MEM_OBJECT);
}

TEST_F(clEnqueueMapBuffer, GivenNoErrorPointerThenStillAnAnswer) {
  void* pointer = ::clEnqueueMapBuffer(queue, mem, CL_TRUE, CL_MAP_READ, 0, 16, 0, nullptr, nullptr, nullptr);
  ASSERT_NE(nullptr, pointer);
  unmap(mem, pointer);
  EXPECT_EQ(nullptr,
            ::clEnqueueMapBuffer(queue, mem, CL_TRUE, CL_MAP_READ, 0, 0, 0, nullptr, nullptr, nullptr));
}

TEST_F(clEnqueueMapBuffer, GivenCallThenRulesOfEveryEnqueueHold) {
  std::vector<void*> pointers;
  expect_enqueue_rules(context, device, CL_COMMAND_MAP_BUFFER,
                       [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
                         cl_int err = CL_SUCCESS;
                         void* pointer = ::clEnqueueMapBuffer(on, mem, CL_FALSE, CL_MAP_READ, 0, kBytes,
                                                              count, list, event, &err);
                         if (pointer != nullptr) pointers.push_back(pointer);
                         return err;
                       });
  EXPECT_EQ(2U, pointers.size());
  EXPECT_EQ(2U, map_count(mem));
  for (void* pointer : pointers) unmap(mem, pointer);
}

TEST_F(clEnqueueMapBuffer, GivenFailedEventInWaitListThenBlockingMapReportsIt) {
  expect_blocking_reports_failed_event(
      context, device, [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
        cl_int err = CL_SUCCESS;
        EXPECT_EQ(nullptr,
                  ::clEnqueueMapBuffer(on, mem, CL_TRUE, CL_MAP_READ, 0, kBytes, count, list, event, &err));
        return err;
      });
}

}  // namespace clique::test::suite_clEnqueueMapBuffer
