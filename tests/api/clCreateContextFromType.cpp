// clCreateContextFromType: OpenCL 3.0, section 4.4.
#include "checks.hpp"

namespace clique::test::suite_clCreateContextFromType {

class clCreateContextFromType : public ApiTest {
 protected:
  // Without a platform the loader selects one, which may not be the platform under test.
  cl_int create(cl_device_type type, std::vector<cl_context_properties> more = {}) {
    std::vector<cl_context_properties> properties = {CL_CONTEXT_PLATFORM,
                                                     reinterpret_cast<cl_context_properties>(platform())};
    properties.insert(properties.end(), more.begin(), more.end());
    properties.push_back(0);
    cl_int err = CL_SUCCESS;
    made = Context(::clCreateContextFromType(properties.data(), type, nullptr, nullptr, &err));
    EXPECT_EQ(err == CL_SUCCESS, made.get() != nullptr) << err;
    return err;
  }
  std::vector<cl_device_id> made_devices() {
    return info<std::vector<cl_device_id>>(clGetContextInfo, made.get(), CL_CONTEXT_DEVICES);
  }
  Context made;
};

TEST_F(clCreateContextFromType, GivenAllThenEveryDeviceOfThePlatform) {
  ASSERT_CL(create(CL_DEVICE_TYPE_ALL));
  EXPECT_EQ(devices(), made_devices());
  EXPECT_EQ(1U, info<cl_uint>(clGetContextInfo, made.get(), CL_CONTEXT_REFERENCE_COUNT));
}

TEST_F(clCreateContextFromType, GivenTypeThenItsDevicesOrDeviceNotFound) {
  for (const cl_device_type type : {CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_ACCELERATOR}) {
    std::vector<cl_device_id> expected;
    for (const cl_device_id each : devices()) {
      if (info<cl_device_type>(clGetDeviceInfo, each, CL_DEVICE_TYPE) & type) expected.push_back(each);
    }
    if (expected.empty()) {
      EXPECT_EQ(CL_DEVICE_NOT_FOUND, create(type)) << type;
    } else {
      ASSERT_CL(create(type));
      EXPECT_EQ(expected, made_devices());
    }
  }
}

TEST_F(clCreateContextFromType, GivenDefaultThenOneDevice) {
  ASSERT_CL(create(CL_DEVICE_TYPE_DEFAULT));
  EXPECT_EQ(1U, made_devices().size());
}

TEST_F(clCreateContextFromType, GivenContextThenPropertiesAreTheGivenOnes) {
  ASSERT_CL(create(CL_DEVICE_TYPE_ALL));
  EXPECT_EQ((std::vector<cl_context_properties>{CL_CONTEXT_PLATFORM,
                                                reinterpret_cast<cl_context_properties>(platform()), 0}),
            info<std::vector<cl_context_properties>>(clGetContextInfo, made.get(), CL_CONTEXT_PROPERTIES));
}

TEST_F(clCreateContextFromType, GivenInvalidTypeThenInvalidDeviceType) {
  EXPECT_EQ(CL_INVALID_DEVICE_TYPE, create(0));
  EXPECT_EQ(CL_INVALID_DEVICE_TYPE, create(cl_device_type{1} << 20));
}

TEST_F(clCreateContextFromType, GivenDataWithoutCallbackThenInvalidValue) {
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                              reinterpret_cast<cl_context_properties>(platform()), 0};
  int data = 0;
  cl_int err = CL_SUCCESS;
  EXPECT_EQ(nullptr, ::clCreateContextFromType(properties, CL_DEVICE_TYPE_ALL, nullptr, &data, &err));
  EXPECT_EQ(CL_INVALID_VALUE, err);
}

TEST_F(clCreateContextFromType, GivenBadPropertiesThenInvalidProperty) {
  EXPECT_EQ(CL_INVALID_PROPERTY, create(CL_DEVICE_TYPE_ALL, {0x7FFF0000, 1}));
  EXPECT_EQ(
      CL_INVALID_PROPERTY,
      create(CL_DEVICE_TYPE_ALL, {CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(platform())}));
  EXPECT_EQ(CL_INVALID_PROPERTY, create(CL_DEVICE_TYPE_ALL, {CL_CONTEXT_INTEROP_USER_SYNC, 7}));
}

TEST_F(clCreateContextFromType, GivenPlatformThatIsNoPlatformThenInvalidPlatform) {
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, 0, 0};
  cl_int err = CL_SUCCESS;
  EXPECT_EQ(nullptr, ::clCreateContextFromType(properties, CL_DEVICE_TYPE_ALL, nullptr, nullptr, &err));
  EXPECT_EQ(CL_INVALID_PLATFORM, err);
}

TEST_F(clCreateContextFromType, GivenNoErrorPointerThenCreated) {
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                              reinterpret_cast<cl_context_properties>(platform()), 0};
  made = Context(::clCreateContextFromType(properties, CL_DEVICE_TYPE_ALL, nullptr, nullptr, nullptr));
  EXPECT_NE(nullptr, made.get());
}

}  // namespace clique::test::suite_clCreateContextFromType
