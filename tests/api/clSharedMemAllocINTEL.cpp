// clSharedMemAllocINTEL: cl_intel_unified_shared_memory.
#include "usm.hpp"

namespace clique::test::suite_clSharedMemAllocINTEL {

class clSharedMemAllocINTEL : public UsmTest {
 protected:
  void refuses(cl_int expected, cl_device_id of, const cl_properties* properties, size_t size,
               cl_uint alignment) const {
    cl_int err = CL_SUCCESS;
    EXPECT_EQ(nullptr, shared_alloc(context, of, properties, size, alignment, &err));
    EXPECT_EQ(expected, err);
  }
};

TEST_F(clSharedMemAllocINTEL, GivenDevicesWithoutSharedAllocationsThenInvalidOperation) {
  for (const cl_device_id each : devices()) {
    if (maps_host_memory(each)) continue;
    const Context without(::clCreateContext(nullptr, 1, &each, nullptr, nullptr, nullptr));
    for (cl_device_id of : {each, cl_device_id{nullptr}}) {
      cl_int err = CL_SUCCESS;
      EXPECT_EQ(nullptr, shared_alloc(without, of, nullptr, 64, 0, &err));
      EXPECT_EQ(CL_INVALID_OPERATION, err);
    }
    return;
  }
  GTEST_SKIP() << "all devices have shared allocations";
}

TEST_F(clSharedMemAllocINTEL, GivenInvalidHandlesThenErrors) {
  cl_int err = CL_SUCCESS;
  EXPECT_EQ(nullptr, shared_alloc(nullptr, device, nullptr, 64, 0, &err));
  EXPECT_EQ(CL_INVALID_CONTEXT, err);
  refuses(CL_INVALID_DEVICE, reinterpret_cast<cl_device_id>(queue.get()), nullptr, 64, 0);
}

TEST_F(clSharedMemAllocINTEL, GivenWrongArgumentsThenErrors) {
  use_mapping_device();
  if (IsSkipped()) return;
  const auto largest = info<cl_ulong>(clGetDeviceInfo, device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  for (cl_device_id of : {device, cl_device_id{nullptr}}) {
    refuses(CL_INVALID_BUFFER_SIZE, of, nullptr, 0, 0);
    refuses(CL_INVALID_BUFFER_SIZE, of, nullptr, largest + 1, 0);
    refuses(CL_INVALID_VALUE, of, nullptr, 64, 48);
    const cl_properties both[] = {
        CL_MEM_ALLOC_FLAGS_INTEL,
        CL_MEM_ALLOC_INITIAL_PLACEMENT_DEVICE_INTEL | CL_MEM_ALLOC_INITIAL_PLACEMENT_HOST_INTEL, 0};
    refuses(CL_INVALID_PROPERTY, of, both, 64, 0);
  }
}

TEST_F(clSharedMemAllocINTEL, GivenDeviceOrNoneThenItIsReported) {
  use_mapping_device();
  if (IsSkipped()) return;
  const cl_properties properties[] = {CL_MEM_ALLOC_FLAGS_INTEL, CL_MEM_ALLOC_INITIAL_PLACEMENT_HOST_INTEL, 0};
  for (cl_device_id of : {device, cl_device_id{nullptr}}) {
    cl_int err = -1;
    void* memory = shared_alloc(context, of, properties, 64, 4096, &err);
    ASSERT_EQ(CL_SUCCESS, err);
    EXPECT_EQ(0U, reinterpret_cast<uintptr_t>(memory) % 4096);
    EXPECT_EQ(cl_uint{CL_MEM_TYPE_SHARED_INTEL}, alloc_value<cl_uint>(memory, CL_MEM_ALLOC_TYPE_INTEL));
    EXPECT_EQ(of, alloc_value<cl_device_id>(memory, CL_MEM_ALLOC_DEVICE_INTEL));
    EXPECT_EQ(cl_bitfield{CL_MEM_ALLOC_INITIAL_PLACEMENT_HOST_INTEL},
              alloc_value<cl_bitfield>(memory, CL_MEM_ALLOC_FLAGS_INTEL));
    EXPECT_CL(blocking_free(context, memory));
  }
}

TEST_F(clSharedMemAllocINTEL, GivenDevicesThatMapItThenKernelsOfAllWorkInIt) {
  use_mapping_device();
  if (IsSkipped()) return;
  const Program program = build("kernel void add(global int* data) { data[get_global_id(0)] += 1; }");
  const Kernel add = kernel(program, "add");
  const auto data = shared<cl_int>(100);
  std::iota(data.get(), data.get() + 100, 0);
  EXPECT_CL(set_arg(add, 0, data.get()));
  cl_int runs = 0;
  for (const cl_device_id each : devices()) {
    if (!maps_host_memory(each)) continue;
    const Queue on = make_queue(0, each);
    EXPECT_CL(launch(on, add, 100));
    EXPECT_CL(::clFinish(on));
    ++runs;
    EXPECT_EQ(numbers(100, runs), std::vector<cl_int>(data.get(), data.get() + 100));
  }
}

}  // namespace clique::test::suite_clSharedMemAllocINTEL
