// clCreateSemaphoreWithPropertiesKHR: cl_khr_semaphore 1.0.1.
#include "semaphores.hpp"

namespace clique::test::suite_clCreateSemaphoreWithPropertiesKHR {

class clCreateSemaphoreWithPropertiesKHR : public SemaphoreTest {
 protected:
  /// The error of a call that must fail.
  cl_int error_of(const Properties& list) { return error_in(context, list.data()); }
  cl_int error_in(cl_context in, const cl_semaphore_properties_khr* list) {
    cl_int err = CL_SUCCESS;
    EXPECT_EQ(nullptr, call.create(in, list, &err));
    EXPECT_EQ(nullptr, call.create(in, list, nullptr));
    return err;
  }
  static constexpr cl_semaphore_properties_khr kType = CL_SEMAPHORE_TYPE_KHR;
  static constexpr cl_semaphore_properties_khr kBinary = CL_SEMAPHORE_TYPE_BINARY_KHR;
};

TEST_F(clCreateSemaphoreWithPropertiesKHR, GivenPlatformThenItAndItsDevicesHaveBinarySemaphores) {
  using Types = std::vector<cl_semaphore_type_khr>;
  const Types binary{CL_SEMAPHORE_TYPE_BINARY_KHR};
  EXPECT_EQ(binary, info<Types>(clGetPlatformInfo, platform(), CL_PLATFORM_SEMAPHORE_TYPES_KHR));
  expect_info_rules(clGetPlatformInfo, platform(), cl_platform_info{CL_PLATFORM_SEMAPHORE_TYPES_KHR});
  for (const cl_device_id each : devices()) {
    EXPECT_EQ(binary, info<Types>(clGetDeviceInfo, each, CL_DEVICE_SEMAPHORE_TYPES_KHR));
    cl_version version = 0;
    for (const auto& entry :
         info<std::vector<cl_name_version>>(clGetDeviceInfo, each, CL_DEVICE_EXTENSIONS_WITH_VERSION))
      if (std::string(entry.name) == "cl_khr_semaphore") version = entry.version;
    EXPECT_EQ(CL_MAKE_VERSION(1, 0, 1), version);
  }
}

TEST_F(clCreateSemaphoreWithPropertiesKHR, GivenDeviceOfContextThenSemaphoreIsNotSignaled) {
  for (const cl_device_id each : devices()) {
    const Semaphore made = make_semaphore(context, each);
    ASSERT_NE(nullptr, made.get());
    EXPECT_EQ(0U, payload(made));
  }
}

TEST_F(clCreateSemaphoreWithPropertiesKHR, GivenContextOfOneDeviceThenDeviceNeedNotBeNamed) {
  cl_int err = CL_SUCCESS;
  const Context one(clCreateContext(nullptr, 1, &device, nullptr, nullptr, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  const cl_semaphore_properties_khr list[] = {kType, kBinary, 0};
  const Semaphore made(call.create(one, list, &err));
  EXPECT_EQ(CL_SUCCESS, err);
  EXPECT_EQ(device, info<cl_device_id>(call.get_info, made.get(), icd::api::kSemaphoreDevices));
}

TEST_F(clCreateSemaphoreWithPropertiesKHR, GivenContextOfSeveralDevicesThenOneHasToBeNamed) {
  const TwoDevices two;
  if (!two.context) GTEST_SKIP() << "there is one device only, which cannot be partitioned";
  const cl_semaphore_properties_khr list[] = {kType, kBinary, 0};
  EXPECT_EQ(CL_INVALID_PROPERTY, error_in(two.context, list));
  const Properties both{
      kType, kBinary, icd::api::kSemaphoreDevices, property_of(two.device(0)), property_of(two.device(1)),
      0,     0};
  EXPECT_EQ(CL_INVALID_DEVICE, error_in(two.context, both.data()));
  cl_int err = CL_SUCCESS;
  const cl_device_id second = two.device(1);
  const Context other(clCreateContext(nullptr, 1, &second, nullptr, nullptr, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  EXPECT_EQ(CL_INVALID_DEVICE, error_in(other, for_device(two.device(0)).data()));
}

TEST_F(clCreateSemaphoreWithPropertiesKHR, GivenNoErrcodeRetThenSemaphoreIsReturned) {
  const Semaphore made(call.create(context, for_device(device).data(), nullptr));
  EXPECT_NE(nullptr, made.get());
}

TEST_F(clCreateSemaphoreWithPropertiesKHR, GivenNoTypeThenInvalidValue) {
  EXPECT_EQ(CL_INVALID_VALUE, error_in(context, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, error_of({0}));
  EXPECT_EQ(CL_INVALID_VALUE, error_of({icd::api::kSemaphoreDevices, property_of(device), 0, 0}));
}

TEST_F(clCreateSemaphoreWithPropertiesKHR, GivenWrongPropertyThenInvalidProperty) {
  for (const cl_semaphore_properties_khr name :
       {~cl_semaphore_properties_khr{0}, cl_semaphore_properties_khr{CL_SEMAPHORE_PAYLOAD_KHR},
        cl_semaphore_properties_khr{CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR}})
    EXPECT_EQ(CL_INVALID_PROPERTY, error_of({kType, kBinary, name})) << name;
  // With more bits than a cl_semaphore_type_khr has.
  for (const cl_semaphore_properties_khr type :
       {cl_semaphore_properties_khr{0}, cl_semaphore_properties_khr{2}, ~cl_semaphore_properties_khr{0},
        kBinary | (cl_semaphore_properties_khr{1} << 32U)})
    EXPECT_EQ(CL_INVALID_PROPERTY, error_of({kType, type, 0})) << type;
}

TEST_F(clCreateSemaphoreWithPropertiesKHR, GivenPropertyTwiceThenInvalidProperty) {
  // The list ends with the name that occurs twice: nothing behind it is read.
  EXPECT_EQ(CL_INVALID_PROPERTY, error_of({kType, kBinary, kType}));
  EXPECT_EQ(CL_INVALID_PROPERTY,
            error_of({icd::api::kSemaphoreDevices, property_of(device), 0, icd::api::kSemaphoreDevices}));
}

TEST_F(clCreateSemaphoreWithPropertiesKHR, GivenNotExactlyOneValidDeviceThenInvalidDevice) {
  EXPECT_EQ(CL_INVALID_DEVICE, error_of({kType, kBinary, icd::api::kSemaphoreDevices, 0, 0}));
  EXPECT_EQ(CL_INVALID_DEVICE, error_of({kType, kBinary, icd::api::kSemaphoreDevices,
                                         property_of(foreign_handle<cl_device_id>())}));
  EXPECT_EQ(CL_INVALID_DEVICE, error_of({kType, kBinary, icd::api::kSemaphoreDevices, property_of(device),
                                         property_of(device)}));
}

TEST_F(clCreateSemaphoreWithPropertiesKHR, GivenNoContextThenInvalidContext) {
  const Properties list = for_device(device);
  EXPECT_EQ(CL_INVALID_CONTEXT, error_in(nullptr, list.data()));
  EXPECT_EQ(CL_INVALID_CONTEXT, error_in(foreign_handle<cl_context>(), list.data()));
}

}  // namespace clique::test::suite_clCreateSemaphoreWithPropertiesKHR
