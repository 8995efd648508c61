// clRetainDevice: OpenCL 3.0, section 4.3.
#include "checks.hpp"

namespace clique::test::suite_clRetainDevice {

class clRetainDevice : public ApiTest {};

TEST_F(clRetainDevice, GivenRootDeviceThenNothingChanges) {
  for (const cl_device_id each : devices()) {
    EXPECT_CL(::clRetainDevice(each));
    EXPECT_EQ(1U, info<cl_uint>(clGetDeviceInfo, each, CL_DEVICE_REFERENCE_COUNT));
    EXPECT_EQ(platform(), info<cl_platform_id>(clGetDeviceInfo, each, CL_DEVICE_PLATFORM));
  }
}

TEST_F(clRetainDevice, GivenSubDeviceThenReferencesAreCounted) {
  expect_counted_sub_devices(device);
}

TEST_F(clRetainDevice, GivenNullDeviceThenInvalidDevice) {
  EXPECT_EQ(CL_INVALID_DEVICE, ::clRetainDevice(nullptr));
}

}  // namespace clique::test::suite_clRetainDevice
