// clRetainDevice: OpenCL 3.0, section 4.3.
#include "checks.hpp"

namespace clique::test {

class clRetainDevice : public ApiTest {};

TEST_F(clRetainDevice, GivenRootDeviceThenNothingChanges) {
  for (const cl_device_id each : devices()) {
    EXPECT_CL(::clRetainDevice(each));
    EXPECT_EQ(1U, info<cl_uint>(clGetDeviceInfo, each, CL_DEVICE_REFERENCE_COUNT));
    EXPECT_EQ(platform(), info<cl_platform_id>(clGetDeviceInfo, each, CL_DEVICE_PLATFORM));
  }
}

TEST_F(clRetainDevice, GivenSubDeviceThenReferencesAreCounted) {
  const cl_device_partition_property properties[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
  cl_uint count = 0;
  if (clCreateSubDevices(device, properties, 0, nullptr, &count) != CL_SUCCESS)
    GTEST_SKIP() << "the device cannot be partitioned";
  std::vector<cl_device_id> parts(count);
  ASSERT_CL(clCreateSubDevices(device, properties, count, parts.data(), nullptr));
  expect_counted_references(parts[0], ::clRetainDevice, ::clReleaseDevice, clGetDeviceInfo,
                            CL_DEVICE_REFERENCE_COUNT);
  for (const cl_device_id part : parts) EXPECT_CL(::clReleaseDevice(part));
}

TEST_F(clRetainDevice, GivenNullDeviceThenInvalidDevice) {
  EXPECT_EQ(CL_INVALID_DEVICE, ::clRetainDevice(nullptr));
}

}  // namespace clique::test
