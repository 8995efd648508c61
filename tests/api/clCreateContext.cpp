// clCreateContext: OpenCL 3.0, section 4.4.
#include "checks.hpp"

namespace clique::test::suite_clCreateContext {

class clCreateContext : public ApiTest {
 protected:
  cl_int create(const cl_context_properties* properties, const std::vector<cl_device_id>& list) {
    cl_int err = CL_SUCCESS;
    const Context made(::clCreateContext(properties, static_cast<cl_uint>(list.size()), list.data(), nullptr,
                                         nullptr, &err));
    EXPECT_EQ(err == CL_SUCCESS, made.get() != nullptr) << err;
    return err;
  }
  static void CL_CALLBACK notify(const char*, const void*, size_t, void*) {}
};

TEST_F(clCreateContext, GivenOneDeviceThenContextOfThatDevice) {
  for (const cl_device_id each : devices()) {
    cl_int err = CL_INVALID_VALUE;
    const Context made(::clCreateContext(nullptr, 1, &each, nullptr, nullptr, &err));
    ASSERT_EQ(CL_SUCCESS, err);
    EXPECT_EQ(1U, info<cl_uint>(clGetContextInfo, made.get(), CL_CONTEXT_NUM_DEVICES));
    EXPECT_EQ(std::vector<cl_device_id>{each},
              info<std::vector<cl_device_id>>(clGetContextInfo, made.get(), CL_CONTEXT_DEVICES));
    EXPECT_EQ(1U, info<cl_uint>(clGetContextInfo, made.get(), CL_CONTEXT_REFERENCE_COUNT));
  }
}

TEST_F(clCreateContext, GivenAllDevicesThenContextOfAllInTheirOrder) {
  EXPECT_EQ(devices(), info<std::vector<cl_device_id>>(clGetContextInfo, context.get(), CL_CONTEXT_DEVICES));
}

TEST_F(clCreateContext, GivenDeviceTwiceThenItCountsOnce) {
  const cl_device_id twice[] = {device, device};
  cl_int err = CL_INVALID_VALUE;
  const Context made(::clCreateContext(nullptr, 2, twice, nullptr, nullptr, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  EXPECT_EQ(std::vector<cl_device_id>{device},
            info<std::vector<cl_device_id>>(clGetContextInfo, made.get(), CL_CONTEXT_DEVICES));
}

TEST_F(clCreateContext, GivenPlatformPropertyThenCreated) {
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                              reinterpret_cast<cl_context_properties>(platform()), 0};
  EXPECT_CL(create(properties, devices()));
}

TEST_F(clCreateContext, GivenEmptyPropertiesThenCreated) {
  const cl_context_properties properties[] = {0};
  EXPECT_CL(create(properties, devices()));
}

TEST_F(clCreateContext, GivenInteropUserSyncThenCreated) {
  for (const cl_context_properties value : {CL_FALSE, CL_TRUE}) {
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                                reinterpret_cast<cl_context_properties>(platform()),
                                                CL_CONTEXT_INTEROP_USER_SYNC, value, 0};
    EXPECT_CL(create(properties, devices()));
  }
}

TEST_F(clCreateContext, GivenNoErrorPointerThenCreated) {
  const Context made(::clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr));
  EXPECT_NE(nullptr, made.get());
}

TEST_F(clCreateContext, GivenCallbackWithAndWithoutDataThenCreated) {
  int data = 0;
  for (void* user_data : {static_cast<void*>(nullptr), static_cast<void*>(&data)}) {
    cl_int err = CL_INVALID_VALUE;
    const Context made(::clCreateContext(nullptr, 1, &device, notify, user_data, &err));
    EXPECT_EQ(CL_SUCCESS, err);
    EXPECT_NE(nullptr, made.get());
  }
}

TEST_F(clCreateContext, GivenDataWithoutCallbackThenInvalidValue) {
  int data = 0;
  cl_int err = CL_SUCCESS;
  EXPECT_EQ(nullptr, ::clCreateContext(nullptr, 1, &device, nullptr, &data, &err));
  EXPECT_EQ(CL_INVALID_VALUE, err);
}

TEST_F(clCreateContext, GivenNoDevicesThenInvalidValue) {
  cl_int err = CL_SUCCESS;
  EXPECT_EQ(nullptr, ::clCreateContext(nullptr, 0, &device, nullptr, nullptr, &err));
  EXPECT_EQ(CL_INVALID_VALUE, err);
  err = CL_SUCCESS;
  EXPECT_EQ(nullptr, ::clCreateContext(nullptr, 1, nullptr, nullptr, nullptr, &err));
  EXPECT_EQ(CL_INVALID_VALUE, err);
}

TEST_F(clCreateContext, GivenDeviceThatIsNoDeviceThenInvalidDevice) {
  EXPECT_EQ(CL_INVALID_DEVICE, create(nullptr, {device, nullptr}));
  EXPECT_EQ(CL_INVALID_DEVICE, create(nullptr, {device, foreign_handle<cl_device_id>()}));
  EXPECT_EQ(CL_INVALID_DEVICE, create(nullptr, {device, reinterpret_cast<cl_device_id>(queue.get())}));
}

TEST_F(clCreateContext, GivenPlatformThatIsNoPlatformThenInvalidPlatform) {
  const cl_context_properties none[] = {CL_CONTEXT_PLATFORM, 0, 0};
  EXPECT_EQ(CL_INVALID_PLATFORM, create(none, devices()));
  const cl_context_properties foreign[] = {
      CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(foreign_handle<cl_platform_id>()), 0};
  EXPECT_EQ(CL_INVALID_PLATFORM, create(foreign, devices()));
}

TEST_F(clCreateContext, GivenUnknownPropertyThenInvalidProperty) {
  const cl_context_properties only[] = {0x7FFF0000, 1, 0};
  EXPECT_EQ(CL_INVALID_PROPERTY, create(only, devices()));
  const cl_context_properties second[] = {
      CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(platform()), 0x7FFF0000, 1, 0};
  EXPECT_EQ(CL_INVALID_PROPERTY, create(second, devices()));
}

TEST_F(clCreateContext, GivenPropertyTwiceThenInvalidProperty) {
  const auto id = reinterpret_cast<cl_context_properties>(platform());
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, id, CL_CONTEXT_PLATFORM, id, 0};
  EXPECT_EQ(CL_INVALID_PROPERTY, create(properties, devices()));
}

TEST_F(clCreateContext, GivenInteropUserSyncThatIsNoBooleanThenInvalidProperty) {
  const cl_context_properties properties[] = {CL_CONTEXT_INTEROP_USER_SYNC, 7, 0};
  EXPECT_EQ(CL_INVALID_PROPERTY, create(properties, devices()));
}

}  // namespace clique::test::suite_clCreateContext
