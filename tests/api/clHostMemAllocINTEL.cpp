// clHostMemAllocINTEL: cl_intel_unified_shared_memory.
#include "usm.hpp"

namespace clique::test {

class clHostMemAllocINTEL : public UsmTest {};

TEST_F(clHostMemAllocINTEL, GivenDevicesWithoutHostAllocationsThenInvalidOperation) {
  for (const cl_device_id each : devices())
    if (info<cl_bitfield>(clGetDeviceInfo, each, CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL) != 0)
      GTEST_SKIP() << "a device has host allocations";
  cl_int err = CL_SUCCESS;
  EXPECT_EQ(nullptr, host_alloc(context, nullptr, 64, 0, &err));
  EXPECT_EQ(CL_INVALID_OPERATION, err);
  EXPECT_EQ(nullptr, host_alloc(context, nullptr, 64, 0, nullptr));
}

TEST_F(clHostMemAllocINTEL, GivenNoContextThenInvalidContext) {
  cl_int err = CL_SUCCESS;
  EXPECT_EQ(nullptr, host_alloc(nullptr, nullptr, 64, 0, &err));
  EXPECT_EQ(CL_INVALID_CONTEXT, err);
}

}  // namespace clique::test
