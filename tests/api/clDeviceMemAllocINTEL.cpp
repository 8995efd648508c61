// clDeviceMemAllocINTEL: cl_intel_unified_shared_memory.
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "usm.hpp"

namespace clique::test::suite_clDeviceMemAllocINTEL {

class clDeviceMemAllocINTEL : public UsmTest {
 protected:
  /// True if device allocations are memory of the host in this context, as they are where all devices are
  /// CPUs with host allocations.
  bool host_accesses_device_memory() {
    return std::all_of(devices().begin(), devices().end(), [](cl_device_id each) {
      return maps_host_memory(each) &&
             info<cl_device_type>(clGetDeviceInfo, each, CL_DEVICE_TYPE) == CL_DEVICE_TYPE_CPU;
    });
  }
};

TEST_F(clDeviceMemAllocINTEL, GivenDeviceThenItsCapabilitiesAllowIt) {
  EXPECT_NE(cl_bitfield{0},
            info<cl_bitfield>(clGetDeviceInfo, device, CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL) &
                CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL);
  for (const cl_device_info name :
       {CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL, CL_DEVICE_SINGLE_DEVICE_SHARED_MEM_CAPABILITIES_INTEL,
        CL_DEVICE_CROSS_DEVICE_SHARED_MEM_CAPABILITIES_INTEL, CL_DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL})
    EXPECT_NO_FATAL_FAILURE(info<cl_bitfield>(clGetDeviceInfo, device, name));
}

TEST_F(clDeviceMemAllocINTEL, GivenAllocationsThenContentsAreTheirOwn) {
  const auto a = on_device<cl_int>(1000);
  const auto b = on_device<cl_int>(1000);
  write_usm(a.get(), numbers(1000));
  write_usm(b.get(), numbers(1000, 5000));
  EXPECT_EQ(numbers(1000), read_usm(a.get(), 1000));
  EXPECT_EQ(numbers(1000, 5000), read_usm(b.get(), 1000));
}

TEST_F(clDeviceMemAllocINTEL, GivenAlignmentThenAddressIsAligned) {
  for (const cl_uint alignment : {0U, 1U, 2U, 64U, 128U, 4096U, 65536U, 64U << 20U}) {
    cl_int err = -1;
    void* memory = device_alloc(context, device, nullptr, 10, alignment, &err);
    ASSERT_EQ(CL_SUCCESS, err) << alignment;
    EXPECT_EQ(0U, reinterpret_cast<uintptr_t>(memory) % (alignment == 0 ? 128 : alignment));
    EXPECT_CL(free(context, memory));
  }
}

TEST_F(clDeviceMemAllocINTEL, GivenFlagsThenTheyAreReported) {
  const cl_properties properties[] = {CL_MEM_ALLOC_FLAGS_INTEL, CL_MEM_ALLOC_WRITE_COMBINED_INTEL, 0};
  void* memory = device_alloc(context, device, properties, 10, 0, nullptr);
  ASSERT_NE(nullptr, memory);
  EXPECT_EQ(cl_bitfield{CL_MEM_ALLOC_WRITE_COMBINED_INTEL},
            alloc_value<cl_bitfield>(memory, CL_MEM_ALLOC_FLAGS_INTEL));
  EXPECT_CL(free(context, memory));
}

TEST_F(clDeviceMemAllocINTEL, GivenAccessByTheHostThenItFaultsUnlessItIsTheSameMemory) {
  const auto data = on_device<char>(64);
  write_usm(data.get(), std::vector<char>(64, 7));
  int ends[2];
  ASSERT_EQ(0, ::pipe(ends));
  // The system accesses the memory with this process's rights.
  const bool all = host_accesses_device_memory();
  EXPECT_EQ(all ? 64 : -1, ::write(ends[1], data.get(), 64));
  if (all) {
    EXPECT_EQ(std::vector<char>(64, 7), std::vector<char>(data.get(), data.get() + 64));
  } else {
    EXPECT_EQ(EFAULT, errno);
  }
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(clDeviceMemAllocINTEL, GivenPointerThenItIsNoHostPointer) {
  const auto data = on_device<char>(64);
  for (const cl_mem_flags flag : {CL_MEM_USE_HOST_PTR, CL_MEM_COPY_HOST_PTR}) {
    cl_int err = CL_SUCCESS;
    EXPECT_EQ(nullptr, ::clCreateBuffer(context, flag, 64, data.get(), &err));
    EXPECT_EQ(CL_INVALID_HOST_PTR, err);
  }
  EXPECT_EQ(CL_INVALID_VALUE,
            ::clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, data.get(), 64, 0, nullptr, nullptr));
}

TEST_F(clDeviceMemAllocINTEL, GivenPointerThenItIsNoHostPointerOfImages) {
  if (info<cl_bool>(clGetDeviceInfo, device, CL_DEVICE_IMAGE_SUPPORT) != CL_TRUE)
    GTEST_SKIP() << "the device has no images";
  constexpr size_t kBytes = 256;  // 8 x 8 pixels
  const auto data = on_device<char>(kBytes);
  cl_image_desc desc = {};
  desc.image_type = CL_MEM_OBJECT_IMAGE2D;
  desc.image_width = 8;
  desc.image_height = 8;
  const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
  cl_int err = CL_SUCCESS;
  for (const cl_mem_flags flag : {CL_MEM_USE_HOST_PTR, CL_MEM_COPY_HOST_PTR}) {
    err = CL_SUCCESS;
    EXPECT_EQ(nullptr, ::clCreateImage(context, flag, &format, &desc, data.get(), &err));
    EXPECT_EQ(CL_INVALID_HOST_PTR, err);
  }
  const Mem image(::clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, nullptr, &err));
  ASSERT_CL(err);
  const size_t origin[] = {0, 0, 0};
  const size_t region[] = {8, 8, 1};
  // Where the host can access the allocation, it is memory like any other.
  const cl_int expected = host_accesses_device_memory() ? CL_SUCCESS : CL_INVALID_VALUE;
  write_usm(data.get(), std::vector<char>(kBytes, 5));
  for (const cl_bool blocking : {CL_TRUE, CL_FALSE}) {
    EXPECT_EQ(expected, ::clEnqueueReadImage(queue, image, blocking, origin, region, 0, 0, data.get(), 0,
                                             nullptr, nullptr));
    EXPECT_EQ(expected, ::clEnqueueWriteImage(queue, image, blocking, origin, region, 0, 0, data.get(), 0,
                                              nullptr, nullptr));
  }
  EXPECT_EQ(expected, ::clEnqueueFillImage(queue, image, data.get(), origin, region, 0, nullptr, nullptr));
  EXPECT_CL(::clFinish(queue));
}

TEST_F(clDeviceMemAllocINTEL, GivenPointerThenItIsNoPattern) {
  const auto data = on_device<char>(64);
  write_usm(data.get(), std::vector<char>(64, 5));
  const Mem filled = buffer<char>(64);
  const cl_int expected = host_accesses_device_memory() ? CL_SUCCESS : CL_INVALID_VALUE;
  EXPECT_EQ(expected, ::clEnqueueFillBuffer(queue, filled, data.get(), 4, 0, 64, 0, nullptr, nullptr));
  EXPECT_EQ(expected, fill(queue, data.get() + 32, data.get(), 4, 32, 0, nullptr, nullptr));
  EXPECT_CL(::clFinish(queue));
}

TEST_F(clDeviceMemAllocINTEL, GivenWrongArgumentsThenErrors) {
  const auto largest = info<cl_ulong>(clGetDeviceInfo, device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  expect_refused(CL_INVALID_CONTEXT, nullptr, device, nullptr, 64, 0);
  expect_refused(CL_INVALID_DEVICE, context, nullptr, nullptr, 64, 0);
  expect_refused(CL_INVALID_DEVICE, context, reinterpret_cast<cl_device_id>(context.get()), nullptr, 64, 0);
  expect_refused(CL_INVALID_BUFFER_SIZE, context, device, nullptr, 0, 0);
  expect_refused(CL_INVALID_BUFFER_SIZE, context, device, nullptr, largest + 1, 0);
  expect_refused(CL_INVALID_VALUE, context, device, nullptr, 64, 3);
  expect_refused(CL_INVALID_VALUE, context, device, nullptr, 64, 4096 + 128);
  const cl_properties unknown[] = {0x1234, 1, 0};
  expect_refused(CL_INVALID_PROPERTY, context, device, unknown, 64, 0);
  const cl_properties placed[] = {CL_MEM_ALLOC_FLAGS_INTEL, CL_MEM_ALLOC_INITIAL_PLACEMENT_DEVICE_INTEL, 0};
  expect_refused(CL_INVALID_PROPERTY, context, device, placed, 64, 0);
  const cl_properties undefined[] = {CL_MEM_ALLOC_FLAGS_INTEL, 1U << 20U, 0};
  expect_refused(CL_INVALID_PROPERTY, context, device, undefined, 64, 0);
  const cl_properties twice[] = {CL_MEM_ALLOC_FLAGS_INTEL, 0, CL_MEM_ALLOC_FLAGS_INTEL, 0, 0};
  expect_refused(CL_INVALID_PROPERTY, context, device, twice, 64, 0);
}

TEST_F(clDeviceMemAllocINTEL, GivenBufferThenItIsReadToTheAllocationAndWrittenFromIt) {
  constexpr size_t kCount = 1000;
  std::vector<cl_int> numbers(kCount);
  for (size_t i = 0; i < kCount; ++i) numbers[i] = static_cast<cl_int>(3 * i);
  const Mem from = buffer(kCount, numbers.data());
  const Mem to = buffer<cl_int>(kCount);
  const auto memory = on_device<cl_int>(kCount);
  const size_t half = kCount / 2 * sizeof(cl_int);
  for (const cl_bool blocking : {CL_TRUE, CL_FALSE}) {
    write_usm(memory.get(), std::vector<cl_int>(kCount, -1));
    ASSERT_CL(clEnqueueReadBuffer(queue, from, blocking, half, half, memory.get() + kCount / 2, 0, nullptr,
                                  nullptr));
    ASSERT_CL(clEnqueueWriteBuffer(queue, to, blocking, 0, 2 * half, memory.get(), 0, nullptr, nullptr));
    const auto got = read<cl_int>(to, kCount);
    for (size_t i = 0; i < kCount; ++i) ASSERT_EQ(i < kCount / 2 ? -1 : numbers[i], got[i]) << i;
  }
  // The second halves of two rows of four numbers.
  const size_t origin[] = {2 * sizeof(cl_int), 0, 0};
  const size_t region[] = {2 * sizeof(cl_int), 2, 1};
  const size_t row = 4 * sizeof(cl_int);
  write_usm(memory.get(), std::vector<cl_int>(8, -1));
  ASSERT_CL(clEnqueueReadBufferRect(queue, from, CL_TRUE, origin, origin, region, row, 0, row, 0,
                                    memory.get(), 0, nullptr, nullptr));
  EXPECT_EQ((std::vector<cl_int>{-1, -1, 6, 9, -1, -1, 18, 21}), read_usm(memory.get(), 8));
  ASSERT_CL(clEnqueueFillBuffer(queue, to, numbers.data(), sizeof(cl_int), 0, 2 * row, 0, nullptr, nullptr));
  ASSERT_CL(clEnqueueWriteBufferRect(queue, to, CL_TRUE, origin, origin, region, row, 0, row, 0, memory.get(),
                                     0, nullptr, nullptr));
  EXPECT_EQ((std::vector<cl_int>{0, 0, 6, 9, 0, 0, 18, 21}), read<cl_int>(to, 8));
  EXPECT_EQ(CL_INVALID_VALUE,
            clEnqueueReadBuffer(queue, from, CL_TRUE, 0, 2 * half, memory.get() + 1, 0, nullptr, nullptr));
}

}  // namespace clique::test::suite_clDeviceMemAllocINTEL
