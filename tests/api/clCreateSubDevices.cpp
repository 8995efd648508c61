// clCreateSubDevices: OpenCL 3.0, section 4.3.
#include <algorithm>
#include <numeric>

#include "checks.hpp"
#include "helpers.hpp"

namespace clique::test::suite_clCreateSubDevices {

class clCreateSubDevices : public ApiTest {
 protected:
  using Property = cl_device_partition_property;

  bool supports(Property scheme) {
    const auto schemes = info<std::vector<Property>>(clGetDeviceInfo, device, CL_DEVICE_PARTITION_PROPERTIES);
    return std::find(schemes.begin(), schemes.end(), scheme) != schemes.end();
  }
  cl_uint units(cl_device_id of) { return info<cl_uint>(clGetDeviceInfo, of, CL_DEVICE_MAX_COMPUTE_UNITS); }
  cl_uint max_sub_devices() {
    return info<cl_uint>(clGetDeviceInfo, device, CL_DEVICE_PARTITION_MAX_SUB_DEVICES);
  }
  /// Creates sub-devices that are released at the end of the test.
  std::vector<cl_device_id> partition(const std::vector<Property>& properties) {
    cl_uint count = 0;
    EXPECT_CL(::clCreateSubDevices(device, properties.data(), 0, nullptr, &count));
    std::vector<cl_device_id> result(count);
    EXPECT_CL(::clCreateSubDevices(device, properties.data(), count, result.data(), nullptr));
    created_.insert(created_.end(), result.begin(), result.end());
    return result;
  }
  void TearDown() override {
    for (const cl_device_id each : created_) EXPECT_CL(clReleaseDevice(each));
  }

 private:
  std::vector<cl_device_id> created_;
};

TEST_F(clCreateSubDevices, GivenEquallyThenAllUnitsInEqualParts) {
  if (!supports(CL_DEVICE_PARTITION_EQUALLY)) GTEST_SKIP() << "the device cannot be partitioned equally";
  if (units(device) < 2) GTEST_SKIP() << "the device has one compute unit";
  const auto parts = partition({CL_DEVICE_PARTITION_EQUALLY, 1, 0});
  EXPECT_EQ(units(device), parts.size());
  for (const cl_device_id part : parts) {
    EXPECT_EQ(1U, units(part));
    EXPECT_EQ(device, info<cl_device_id>(clGetDeviceInfo, part, CL_DEVICE_PARENT_DEVICE));
    EXPECT_EQ(platform(), info<cl_platform_id>(clGetDeviceInfo, part, CL_DEVICE_PLATFORM));
    EXPECT_EQ(1U, info<cl_uint>(clGetDeviceInfo, part, CL_DEVICE_REFERENCE_COUNT));
    EXPECT_EQ(info<std::vector<cl_uchar>>(clGetDeviceInfo, device, CL_DEVICE_UUID_KHR),
              info<std::vector<cl_uchar>>(clGetDeviceInfo, part, CL_DEVICE_UUID_KHR));
    EXPECT_EQ((std::vector<Property>{CL_DEVICE_PARTITION_EQUALLY, 1, 0}),
              info<std::vector<Property>>(clGetDeviceInfo, part, CL_DEVICE_PARTITION_TYPE));
  }
}

TEST_F(clCreateSubDevices, GivenCountsThenPartsOfThoseCounts) {
  if (!supports(CL_DEVICE_PARTITION_BY_COUNTS)) GTEST_SKIP() << "the device cannot be partitioned by counts";
  if (units(device) < 2) GTEST_SKIP() << "the device has one compute unit";
  const auto parts = partition({CL_DEVICE_PARTITION_BY_COUNTS, 1, Property(units(device) - 1),
                                CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0});
  ASSERT_EQ(2U, parts.size());
  EXPECT_EQ(1U, units(parts[0]));
  EXPECT_EQ(units(device) - 1, units(parts[1]));
}

TEST_F(clCreateSubDevices, GivenSubDevicesThenRootDevicesOfThePlatformStayTheSame) {
  if (!supports(CL_DEVICE_PARTITION_EQUALLY)) GTEST_SKIP() << "the device cannot be partitioned equally";
  partition({CL_DEVICE_PARTITION_EQUALLY, 1, 0});
  cl_uint count = 0;
  EXPECT_CL(clGetDeviceIDs(platform(), CL_DEVICE_TYPE_ALL, 0, nullptr, &count));
  EXPECT_EQ(devices().size(), count);
}

TEST_F(clCreateSubDevices, GivenSubDeviceThenItsContextAndQueueTransferData) {
  if (!supports(CL_DEVICE_PARTITION_EQUALLY)) GTEST_SKIP() << "the device cannot be partitioned equally";
  const auto parts = partition({CL_DEVICE_PARTITION_EQUALLY, 1, 0});
  ASSERT_FALSE(parts.empty());
  cl_int err = CL_SUCCESS;
  context = Context(clCreateContext(nullptr, 1, parts.data(), nullptr, nullptr, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  queue = make_queue(0, parts.front());
  const std::vector<cl_int> data = {1, 2, 3, 4};
  EXPECT_EQ(data, read<cl_int>(buffer(data.size(), data.data()), data.size()));
  EXPECT_CL(clFinish(queue));
  EXPECT_EQ(parts.front(), info<cl_device_id>(clGetCommandQueueInfo, queue.get(), CL_QUEUE_DEVICE));
  queue.reset();
  context.reset();
}

TEST_F(clCreateSubDevices, GivenProgramBuiltForTheParentThenSubDevicesRunIt) {
  if (!supports(CL_DEVICE_PARTITION_EQUALLY)) GTEST_SKIP() << "the device cannot be partitioned equally";
  const auto parts = partition({CL_DEVICE_PARTITION_EQUALLY, 1, 0});
  ASSERT_FALSE(parts.empty());
  cl_device_id all[] = {device, parts.back()};
  cl_int err = CL_SUCCESS;
  context = Context(clCreateContext(nullptr, 2, all, nullptr, nullptr, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  queue = make_queue(0, parts.back());
  const char* source = "kernel void k(global int* out) { out[get_global_id(0)] = 7; }";
  {
    const Program program(clCreateProgramWithSource(context, 1, &source, nullptr, &err));
    ASSERT_CL(clBuildProgram(program, 1, &device, nullptr, nullptr, nullptr));
    cl_build_status status = CL_BUILD_NONE;
    EXPECT_CL(clGetProgramBuildInfo(program, parts.back(), CL_PROGRAM_BUILD_STATUS, sizeof status, &status,
                                    nullptr));
    EXPECT_EQ(CL_BUILD_SUCCESS, status);
    const Kernel kernel(clCreateKernel(program, "k", &err));
    ASSERT_EQ(CL_SUCCESS, err);
    const Mem out = buffer<cl_int>(2);
    set_args(kernel, out);
    EXPECT_CL(launch(queue, kernel, 2));
    EXPECT_EQ((std::vector<cl_int>{7, 7}), read<cl_int>(out, 2));
  }
  queue.reset();
  context.reset();
}

TEST_F(clCreateSubDevices, GivenProgramBuiltForSubDeviceThenNotForTheOthers) {
  if (!supports(CL_DEVICE_PARTITION_EQUALLY)) GTEST_SKIP() << "the device cannot be partitioned equally";
  if (units(device) < 2) GTEST_SKIP() << "the device has one compute unit";
  const auto parts = partition({CL_DEVICE_PARTITION_EQUALLY, 1, 0});
  cl_int err = CL_SUCCESS;
  context = Context(clCreateContext(nullptr, 2, parts.data(), nullptr, nullptr, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  const char* source = "kernel void k() {}";
  {
    const Program program(clCreateProgramWithSource(context, 1, &source, nullptr, &err));
    ASSERT_CL(clBuildProgram(program, 1, parts.data(), nullptr, nullptr, nullptr));
    cl_build_status status = CL_BUILD_ERROR;
    EXPECT_CL(
        clGetProgramBuildInfo(program, parts[1], CL_PROGRAM_BUILD_STATUS, sizeof status, &status, nullptr));
    EXPECT_EQ(CL_BUILD_NONE, status);
  }
  queue.reset();
  context.reset();
}

TEST_F(clCreateSubDevices, GivenTooFewEntriesThenInvalidValue) {
  if (!supports(CL_DEVICE_PARTITION_EQUALLY)) GTEST_SKIP() << "the device cannot be partitioned equally";
  if (units(device) < 2) GTEST_SKIP() << "the device has one compute unit";
  const Property properties[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
  std::vector<cl_device_id> parts(units(device));
  EXPECT_EQ(CL_INVALID_VALUE,
            ::clCreateSubDevices(device, properties, units(device) - 1, parts.data(), nullptr));
}

// No clause of the specification covers this case: either the device does not support the value, or it cannot
// be partitioned further.
TEST_F(clCreateSubDevices, GivenMoreUnitsThanTheDeviceHasThenPartitionFailed) {
  if (!supports(CL_DEVICE_PARTITION_EQUALLY)) GTEST_SKIP() << "the device cannot be partitioned equally";
  const Property properties[] = {CL_DEVICE_PARTITION_EQUALLY, Property(units(device) + 1), 0};
  cl_uint count = 0;
  const cl_int err = ::clCreateSubDevices(device, properties, 0, nullptr, &count);
  EXPECT_TRUE(err == CL_DEVICE_PARTITION_FAILED || err == CL_INVALID_VALUE) << err;
}

TEST_F(clCreateSubDevices, GivenCountsBeyondTheDeviceThenInvalidPartitionCount) {
  if (!supports(CL_DEVICE_PARTITION_BY_COUNTS)) GTEST_SKIP() << "the device cannot be partitioned by counts";
  cl_uint count = 0;
  const Property total[] = {CL_DEVICE_PARTITION_BY_COUNTS, Property(units(device)), 1,
                            CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0};
  EXPECT_EQ(CL_INVALID_DEVICE_PARTITION_COUNT, ::clCreateSubDevices(device, total, 0, nullptr, &count));
  const Property negative[] = {CL_DEVICE_PARTITION_BY_COUNTS, -1, CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0};
  EXPECT_EQ(CL_INVALID_DEVICE_PARTITION_COUNT, ::clCreateSubDevices(device, negative, 0, nullptr, &count));
  std::vector<Property> many(max_sub_devices() + 3, 1);
  many.front() = CL_DEVICE_PARTITION_BY_COUNTS;
  many.back() = CL_DEVICE_PARTITION_BY_COUNTS_LIST_END;
  many.push_back(0);
  EXPECT_EQ(CL_INVALID_DEVICE_PARTITION_COUNT, ::clCreateSubDevices(device, many.data(), 0, nullptr, &count));
}

TEST_F(clCreateSubDevices, GivenPropertiesThatAreNotValidThenInvalidValue) {
  cl_uint count = 0;
  EXPECT_EQ(CL_INVALID_VALUE, ::clCreateSubDevices(device, nullptr, 0, nullptr, &count));
  const Property unknown[] = {0x7FFF0000, 1, 0};
  EXPECT_EQ(CL_INVALID_VALUE, ::clCreateSubDevices(device, unknown, 0, nullptr, &count));
  const Property empty[] = {0};
  EXPECT_EQ(CL_INVALID_VALUE, ::clCreateSubDevices(device, empty, 0, nullptr, &count));
}

TEST_F(clCreateSubDevices, GivenSchemeThatTheDeviceLacksThenInvalidValue) {
  cl_uint count = 0;
  const std::vector<std::vector<Property>> all = {
      {CL_DEVICE_PARTITION_EQUALLY, 1, 0},
      {CL_DEVICE_PARTITION_BY_COUNTS, 1, CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0},
      {CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN, CL_DEVICE_AFFINITY_DOMAIN_NUMA, 0}};
  for (const auto& properties : all) {
    if (supports(properties.front())) continue;
    EXPECT_EQ(CL_INVALID_VALUE, ::clCreateSubDevices(device, properties.data(), 0, nullptr, &count));
  }
}

TEST_F(clCreateSubDevices, GivenNullDeviceThenInvalidDevice) {
  const Property properties[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
  cl_uint count = 0;
  EXPECT_EQ(CL_INVALID_DEVICE, ::clCreateSubDevices(nullptr, properties, 0, nullptr, &count));
}

}  // namespace clique::test::suite_clCreateSubDevices
