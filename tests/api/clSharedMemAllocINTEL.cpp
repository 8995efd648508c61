// clSharedMemAllocINTEL: cl_intel_unified_shared_memory.
#include "usm.hpp"

namespace clique::test {

class clSharedMemAllocINTEL : public UsmTest {};

TEST_F(clSharedMemAllocINTEL, GivenDevicesWithoutSharedAllocationsThenInvalidOperation) {
  for (const cl_device_id each : devices())
    if (info<cl_bitfield>(clGetDeviceInfo, each, CL_DEVICE_SINGLE_DEVICE_SHARED_MEM_CAPABILITIES_INTEL) != 0)
      GTEST_SKIP() << "a device has shared allocations";
  for (cl_device_id of : {device, cl_device_id{nullptr}}) {
    cl_int err = CL_SUCCESS;
    EXPECT_EQ(nullptr, shared_alloc(context, of, nullptr, 64, 0, &err));
    EXPECT_EQ(CL_INVALID_OPERATION, err);
  }
}

TEST_F(clSharedMemAllocINTEL, GivenInvalidHandlesThenErrors) {
  cl_int err = CL_SUCCESS;
  EXPECT_EQ(nullptr, shared_alloc(nullptr, device, nullptr, 64, 0, &err));
  EXPECT_EQ(CL_INVALID_CONTEXT, err);
  EXPECT_EQ(nullptr,
            shared_alloc(context, reinterpret_cast<cl_device_id>(queue.get()), nullptr, 64, 0, &err));
  EXPECT_EQ(CL_INVALID_DEVICE, err);
}

}  // namespace clique::test
