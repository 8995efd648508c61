// clHostMemAllocINTEL: cl_intel_unified_shared_memory.
#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "usm.hpp"

namespace clique::test::suite_clHostMemAllocINTEL {

class clHostMemAllocINTEL : public UsmTest {
 protected:
  void refuses(cl_int expected, const cl_properties* properties, size_t size, cl_uint alignment) const {
    cl_int err = CL_SUCCESS;
    EXPECT_EQ(nullptr, host_alloc(context, properties, size, alignment, &err));
    EXPECT_EQ(expected, err);
  }
};

TEST_F(clHostMemAllocINTEL, GivenDevicesWithoutHostAllocationsThenInvalidOperation) {
  for (const cl_device_id each : devices()) {
    if (maps_host_memory(each)) continue;
    const Context without(::clCreateContext(nullptr, 1, &each, nullptr, nullptr, nullptr));
    cl_int err = CL_SUCCESS;
    EXPECT_EQ(nullptr, host_alloc(without, nullptr, 64, 0, &err));
    EXPECT_EQ(CL_INVALID_OPERATION, err);
    EXPECT_EQ(nullptr, host_alloc(without, nullptr, 64, 0, nullptr));
    return;
  }
  GTEST_SKIP() << "all devices have host allocations";
}

TEST_F(clHostMemAllocINTEL, GivenNoContextThenInvalidContext) {
  cl_int err = CL_SUCCESS;
  EXPECT_EQ(nullptr, host_alloc(nullptr, nullptr, 64, 0, &err));
  EXPECT_EQ(CL_INVALID_CONTEXT, err);
}

TEST_F(clHostMemAllocINTEL, GivenWrongArgumentsThenErrors) {
  use_mapping_device();
  if (IsSkipped()) return;
  const auto largest = info<cl_ulong>(clGetDeviceInfo, device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  refuses(CL_INVALID_BUFFER_SIZE, nullptr, 0, 0);
  refuses(CL_INVALID_BUFFER_SIZE, nullptr, largest + 1, 0);
  refuses(CL_INVALID_VALUE, nullptr, 64, 3);
  refuses(CL_INVALID_VALUE, nullptr, 64, 4096 + 128);
  const cl_properties placed[] = {CL_MEM_ALLOC_FLAGS_INTEL, CL_MEM_ALLOC_INITIAL_PLACEMENT_HOST_INTEL, 0};
  refuses(CL_INVALID_PROPERTY, placed, 64, 0);
}

// HIP's runtime asks for the alignment of pages, which is greater than that of any type.
TEST_F(clHostMemAllocINTEL, GivenAlignmentThenAddressIsAligned) {
  use_mapping_device();
  if (IsSkipped()) return;
  for (const cl_uint alignment : {0U, 1U, 128U, 4096U, 65536U, 64U << 20U}) {
    cl_int err = -1;
    auto* memory = static_cast<cl_int*>(host_alloc(context, nullptr, 40, alignment, &err));
    ASSERT_EQ(CL_SUCCESS, err) << alignment;
    EXPECT_EQ(0U, reinterpret_cast<uintptr_t>(memory) % (alignment == 0 ? 128 : alignment));
    write_usm(memory, numbers(10, 3));
    EXPECT_EQ(numbers(10, 3), std::vector<cl_int>(memory, memory + 10)) << alignment;
    EXPECT_CL(free(context, memory));
  }
}

TEST_F(clHostMemAllocINTEL, GivenPropertiesThenTheyAreReported) {
  use_mapping_device();
  if (IsSkipped()) return;
  const cl_properties properties[] = {CL_MEM_ALLOC_FLAGS_INTEL, CL_MEM_ALLOC_WRITE_COMBINED_INTEL, 0};
  auto* memory = static_cast<char*>(host_alloc(context, properties, 10000, 64, nullptr));
  ASSERT_NE(nullptr, memory);
  EXPECT_EQ(0U, reinterpret_cast<uintptr_t>(memory) % 64);
  EXPECT_EQ(std::vector<char>(10000), std::vector<char>(memory, memory + 10000));
  EXPECT_EQ(cl_uint{CL_MEM_TYPE_HOST_INTEL}, alloc_value<cl_uint>(memory + 9, CL_MEM_ALLOC_TYPE_INTEL));
  EXPECT_EQ(memory, alloc_value<void*>(memory + 9, CL_MEM_ALLOC_BASE_PTR_INTEL));
  EXPECT_EQ(10000U, alloc_value<size_t>(memory, CL_MEM_ALLOC_SIZE_INTEL));
  EXPECT_EQ(nullptr, alloc_value<cl_device_id>(memory, CL_MEM_ALLOC_DEVICE_INTEL));
  EXPECT_EQ(cl_bitfield{CL_MEM_ALLOC_WRITE_COMBINED_INTEL},
            alloc_value<cl_bitfield>(memory, CL_MEM_ALLOC_FLAGS_INTEL));
  EXPECT_CL(free(context, memory));
}

TEST_F(clHostMemAllocINTEL, GivenManyAllocationsThenEachHasItsContent) {
  use_mapping_device();
  if (IsSkipped()) return;
  // More than a process has descriptors.
  constexpr size_t kCount = 1500;
  std::vector<Allocation<cl_uint>> all;
  for (cl_uint i = 0; i < kCount; ++i) {
    all.push_back(on_host<cl_uint>(4));
    std::fill_n(all.back().get(), 4, i);
  }
  const auto sum = on_host<cl_uint>(kCount);
  for (cl_uint i = 0; i < kCount; ++i)
    EXPECT_CL(copy(queue, CL_FALSE, sum.get() + i, all[i].get() + 1, sizeof(cl_uint), 0, nullptr, nullptr));
  EXPECT_CL(::clFinish(queue));
  for (cl_uint i = 0; i < kCount; ++i) EXPECT_EQ(i, sum[i]);
}

TEST_F(clHostMemAllocINTEL, GivenCommandsThenHostSeesTheirResultsWithoutACopy) {
  use_mapping_device();
  if (IsSkipped()) return;
  const auto a = on_host<cl_int>(1000);
  const auto b = on_device<cl_int>(1000);
  const auto c = on_host<cl_int>(1000);
  // All are in one queue, and the host waits for none but the last.
  const cl_int seven = 7;
  EXPECT_CL(fill(queue, a.get(), &seven, sizeof seven, 4000, 0, nullptr, nullptr));
  EXPECT_CL(copy(queue, CL_FALSE, b.get(), a.get(), 4000, 0, nullptr, nullptr));
  EXPECT_CL(copy(queue, CL_FALSE, c.get(), b.get(), 4000, 0, nullptr, nullptr));
  EXPECT_CL(::clFinish(queue));
  EXPECT_EQ(std::vector<cl_int>(1000, 7), std::vector<cl_int>(c.get(), c.get() + 1000));
  std::iota(a.get(), a.get() + 1000, 5);
  EXPECT_EQ(numbers(1000, 5), read_usm(a.get(), 1000));
  write_usm(a.get(), numbers(1000, 50));
  EXPECT_EQ(numbers(1000, 50), std::vector<cl_int>(a.get(), a.get() + 1000));
}

TEST_F(clHostMemAllocINTEL, GivenRunningKernelThenItAndTheHostSeeEachOthersWrites) {
  use_mapping_device();
  if (IsSkipped()) return;
  const cl_bitfield concurrent = CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ATOMIC_ACCESS_INTEL;
  if ((info<cl_bitfield>(clGetDeviceInfo, device, CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL) & concurrent) == 0)
    GTEST_SKIP() << "the device has no concurrent atomic access";
  const Program program = build(
      "kernel void answer(volatile global int* data) {"
      "  atomic_xchg(data, 1);"
      "  while (atomic_add(data + 1, 0) == 0) if (atomic_inc(data + 3) == 0x7fffffff) return;"
      "  data[2] = data[1] + 1; }");
  const Kernel answer = kernel(program, "answer");
  const auto data = on_host<cl_int>(4);
  std::fill_n(data.get(), 4, 0);
  EXPECT_CL(set_arg(answer, 0, data.get()));
  EXPECT_CL(launch(queue, answer, 1));
  EXPECT_CL(::clFlush(queue));
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (std::atomic_ref(data[0]).load() == 0 && std::chrono::steady_clock::now() < until)
    std::this_thread::yield();
  EXPECT_EQ(1, data[0]);
  std::atomic_ref(data[1]).store(41);
  EXPECT_CL(::clFinish(queue));
  EXPECT_EQ(42, data[2]);
}

TEST_F(clHostMemAllocINTEL, GivenRunningKernelThenTheHostUsesOtherPartsMeanwhile) {
  use_mapping_device();
  if (IsSkipped()) return;
  const cl_bitfield concurrent = CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ACCESS_INTEL;
  if ((info<cl_bitfield>(clGetDeviceInfo, device, CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL) & concurrent) == 0)
    GTEST_SKIP() << "the device has no concurrent access";
  const Program program = build(
      "kernel void count(volatile global int* data, int times) {"
      "  for (int i = 0; i < times; ++i) ++data[2 * get_global_id(0)]; }");
  const Kernel count = kernel(program, "count");
  constexpr size_t kCount = 64;
  constexpr cl_int kTimes = 10'000;
  const auto data = on_host<cl_int>(2 * kCount);
  std::fill_n(data.get(), 2 * kCount, 0);
  EXPECT_CL(set_arg(count, 0, data.get()));
  EXPECT_CL(::clSetKernelArg(count, 1, sizeof kTimes, &kTimes));
  EXPECT_CL(launch(queue, count, kCount));
  EXPECT_CL(::clFlush(queue));
  volatile cl_int* const host = data.get();
  for (cl_int i = 0; i < kTimes; ++i)
    for (size_t at = 0; at < kCount; ++at) host[2 * at + 1] = host[2 * at + 1] + 1;
  EXPECT_CL(::clFinish(queue));
  EXPECT_EQ(std::vector<cl_int>(2 * kCount, kTimes),
            std::vector<cl_int>(data.get(), data.get() + 2 * kCount));
}

TEST_F(clHostMemAllocINTEL, GivenLargeAllocationThenKernelsWorkInAllOfIt) {
  use_mapping_device();
  if (IsSkipped()) return;
  const Program program = build("kernel void add(global int* data) { data[get_global_id(0)] += 1; }");
  const Kernel add = kernel(program, "add");
  constexpr size_t kCount = (48U << 18U) + 5;
  const auto data = on_host<cl_int>(kCount);
  std::iota(data.get(), data.get() + kCount, 0);
  EXPECT_CL(set_arg(add, 0, data.get()));
  EXPECT_CL(launch(queue, add, kCount));
  EXPECT_CL(::clFinish(queue));
  EXPECT_TRUE(std::equal(data.get(), data.get() + kCount, numbers(kCount).begin()));
}

TEST_F(clHostMemAllocINTEL, GivenDeviceThatCannotAccessItThenCommandsThereAreRefused) {
  use_mapping_device();
  if (IsSkipped()) return;
  const auto data = on_host<cl_int>(1);
  const cl_int one = 1;
  for (const cl_device_id each : devices()) {
    if (maps_host_memory(each)) continue;
    const Queue there = make_queue(0, each);
    EXPECT_EQ(CL_INVALID_OPERATION, fill(there, data.get(), &one, sizeof one, 4, 0, nullptr, nullptr));
    return;
  }
  GTEST_SKIP() << "all devices have host allocations";
}

TEST_F(clHostMemAllocINTEL, GivenPointerThenItCannotBeMapped) {
  use_mapping_device();
  if (IsSkipped()) return;
  const auto data = on_host<cl_int>(1);
  EXPECT_EQ(CL_INVALID_VALUE,
            ::clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, data.get(), 4, 0, nullptr, nullptr));
}

TEST_F(clHostMemAllocINTEL, GivenBufferOverItThenItIsAPartOfIt) {
  use_mapping_device();
  if (IsSkipped()) return;
  const auto data = on_host<cl_int>(100);
  cl_int err = -1;
  const Mem part(::clCreateBuffer(context, CL_MEM_USE_HOST_PTR, 200, data.get() + 50, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  const cl_int seven = 7;
  EXPECT_CL(::clEnqueueFillBuffer(queue, part, &seven, sizeof seven, 0, 200, 0, nullptr, nullptr));
  EXPECT_CL(::clFinish(queue));
  EXPECT_EQ(0, data[49]);
  EXPECT_EQ(std::vector<cl_int>(50, 7), std::vector<cl_int>(data.get() + 50, data.get() + 100));
  data[50] = 9;
  EXPECT_EQ((std::vector<cl_int>{9, 7}), read<cl_int>(part, 2));
}

TEST_F(clHostMemAllocINTEL, GivenBufferOverItThenRectanglesAreCopied) {
  use_mapping_device();
  if (IsSkipped()) return;
  const auto data = on_host<unsigned char>(256);
  std::iota(data.get(), data.get() + 256, static_cast<unsigned char>(0));
  cl_int err = -1;
  const Mem buffer(::clCreateBuffer(context, CL_MEM_USE_HOST_PTR, 256, data.get(), &err));
  ASSERT_EQ(CL_SUCCESS, err);
  // Two rows of 3 bytes, in rows of 16.
  const size_t from[] = {2, 1, 0};
  const size_t to[] = {4, 8, 0};
  const size_t nowhere[] = {0, 0, 0};
  const size_t region[] = {3, 2, 1};
  EXPECT_CL(
      ::clEnqueueCopyBufferRect(queue, buffer, buffer, from, to, region, 16, 0, 16, 0, 0, nullptr, nullptr));
  std::array<unsigned char, 6> rows{};
  EXPECT_CL(::clEnqueueReadBufferRect(queue, buffer, CL_TRUE, to, nowhere, region, 16, 0, 3, 0, rows.data(),
                                      0, nullptr, nullptr));
  EXPECT_EQ((std::array<unsigned char, 6>{18, 19, 20, 34, 35, 36}), rows);
  EXPECT_EQ(20, data[4 + 8 * 16 + 2]);
  EXPECT_CL(::clEnqueueWriteBufferRect(queue, buffer, CL_TRUE, from, nowhere, region, 16, 0, 3, 0,
                                       rows.data(), 0, nullptr, nullptr));
  EXPECT_EQ(34, data[2 + 2 * 16]);
}

TEST_F(clHostMemAllocINTEL, GivenHintsThenTheContentStays) {
  use_mapping_device();
  if (IsSkipped()) return;
  const auto data = on_host<cl_int>(10);
  std::iota(data.get(), data.get() + 10, 1);
  EXPECT_CL(migrate(queue, data.get(), 40, 0, 0, nullptr, nullptr));
  EXPECT_CL(migrate(queue, data.get(), 40, CL_MIGRATE_MEM_OBJECT_HOST, 0, nullptr, nullptr));
  EXPECT_CL(advise(queue, data.get(), 40, 0, 0, nullptr, nullptr));
  EXPECT_CL(::clFinish(queue));
  EXPECT_EQ(numbers(10), std::vector<cl_int>(data.get(), data.get() + 10));
}

}  // namespace clique::test::suite_clHostMemAllocINTEL
