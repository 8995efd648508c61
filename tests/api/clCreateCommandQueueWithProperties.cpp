// clCreateCommandQueueWithProperties: OpenCL 3.0, section 5.1.
#include "checks.hpp"

namespace clique::test::suite_clCreateCommandQueueWithProperties {

class clCreateCommandQueueWithProperties : public ApiTest {
 protected:
  using Properties = std::vector<cl_queue_properties>;

  cl_int create(cl_device_id on, const Properties& properties) {
    cl_int err = CL_SUCCESS;
    made = Queue(::clCreateCommandQueueWithProperties(
        context, on, properties.empty() ? nullptr : properties.data(), &err));
    EXPECT_EQ(err == CL_SUCCESS, made.get() != nullptr) << err;
    return err;
  }
  bool has_extension(const std::string& name) {
    return info<std::string>(clGetDeviceInfo, device, CL_DEVICE_EXTENSIONS).find(name) != std::string::npos;
  }
  bool device_queues() {
    return info<cl_device_device_enqueue_capabilities>(clGetDeviceInfo, device,
                                                       CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES) != 0;
  }
  Queue made;
};

TEST_F(clCreateCommandQueueWithProperties, GivenNoPropertiesThenInOrderQueueWithoutProfiling) {
  for (const cl_device_id each : devices()) {
    ASSERT_CL(create(each, Properties{}));
    EXPECT_EQ(each, info<cl_device_id>(clGetCommandQueueInfo, made.get(), CL_QUEUE_DEVICE));
    EXPECT_EQ(0U, info<cl_command_queue_properties>(clGetCommandQueueInfo, made.get(), CL_QUEUE_PROPERTIES));
    EXPECT_CL(clFinish(made));
  }
}

TEST_F(clCreateCommandQueueWithProperties, GivenSupportedPropertiesThenTheyAreReportedAsGiven) {
  const auto supported =
      info<cl_command_queue_properties>(clGetDeviceInfo, device, CL_DEVICE_QUEUE_ON_HOST_PROPERTIES);
  for (cl_command_queue_properties value = 0; value < 4; ++value) {
    const Properties properties = {CL_QUEUE_PROPERTIES, value, 0};
    if ((value & supported) != value) {
      EXPECT_EQ(CL_INVALID_QUEUE_PROPERTIES, create(device, properties)) << value;
      continue;
    }
    ASSERT_CL(create(device, properties)) << value;
    EXPECT_EQ(value,
              info<cl_command_queue_properties>(clGetCommandQueueInfo, made.get(), CL_QUEUE_PROPERTIES));
    EXPECT_EQ(properties, info<Properties>(clGetCommandQueueInfo, made.get(), CL_QUEUE_PROPERTIES_ARRAY));
  }
}

TEST_F(clCreateCommandQueueWithProperties, GivenPriorityAndThrottleHintsThenAcceptedWhereSupported) {
  if (!has_extension("cl_khr_priority_hints")) GTEST_SKIP() << "no cl_khr_priority_hints";
  for (const cl_queue_properties value :
       {CL_QUEUE_PRIORITY_HIGH_KHR, CL_QUEUE_PRIORITY_MED_KHR, CL_QUEUE_PRIORITY_LOW_KHR}) {
    EXPECT_CL(create(device, {CL_QUEUE_PRIORITY_KHR, value, 0}));
  }
}

TEST_F(clCreateCommandQueueWithProperties, GivenUnknownPropertyThenInvalidValue) {
  EXPECT_EQ(CL_INVALID_VALUE, create(device, {0x7FFF0000, 1, 0}));
  EXPECT_EQ(CL_INVALID_VALUE, create(device, {CL_QUEUE_PROPERTIES, 0, 0x7FFF0000, 1, 0}));
}

TEST_F(clCreateCommandQueueWithProperties, GivenUnknownPropertyBitThenInvalidValue) {
  EXPECT_EQ(CL_INVALID_VALUE, create(device, {CL_QUEUE_PROPERTIES, cl_queue_properties{1} << 20, 0}));
  EXPECT_EQ(CL_INVALID_VALUE, create(device, {CL_QUEUE_PROPERTIES, cl_queue_properties{1} << 60, 0}));
}

// For a device without such queues two clauses apply, and the specification does not say which comes first.
TEST_F(clCreateCommandQueueWithProperties, GivenDeviceQueueRulesBrokenThenRefused) {
  const auto expect_refused = [&](const Properties& properties, const char* why) {
    const cl_int err = create(device, properties);
    EXPECT_TRUE(err == CL_INVALID_VALUE || (err == CL_INVALID_QUEUE_PROPERTIES && !device_queues()))
        << why << ": " << err;
  };
  expect_refused({CL_QUEUE_PROPERTIES, CL_QUEUE_ON_DEVICE, 0}, "a device queue must be out of order");
  expect_refused({CL_QUEUE_PROPERTIES, CL_QUEUE_ON_DEVICE_DEFAULT, 0},
                 "the default device queue must be a device queue");
  expect_refused({CL_QUEUE_SIZE, 1024, 0}, "only device queues have a size");
}

TEST_F(clCreateCommandQueueWithProperties, GivenDeviceQueueWithoutSupportThenInvalidQueueProperties) {
  if (device_queues()) GTEST_SKIP() << "the device supports device queues";
  EXPECT_EQ(
      CL_INVALID_QUEUE_PROPERTIES,
      create(device, {CL_QUEUE_PROPERTIES, CL_QUEUE_ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0}));
}

TEST_F(clCreateCommandQueueWithProperties, GivenDeviceThatIsNoDeviceThenInvalidDevice) {
  EXPECT_EQ(CL_INVALID_DEVICE, create(nullptr, {0}));
  EXPECT_EQ(CL_INVALID_DEVICE, create(foreign_handle<cl_device_id>(), {0}));
}

TEST_F(clCreateCommandQueueWithProperties, GivenDeviceOutsideTheContextThenInvalidDevice) {
  if (devices().size() < 2) GTEST_SKIP() << "the platform has one device";
  cl_int err = CL_SUCCESS;
  context = Context(clCreateContext(nullptr, 1, &devices()[0], nullptr, nullptr, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  EXPECT_EQ(CL_INVALID_DEVICE, create(devices()[1], {0}));
}

TEST_F(clCreateCommandQueueWithProperties, GivenNullContextThenInvalidContext) {
  cl_int err = CL_SUCCESS;
  EXPECT_EQ(nullptr, ::clCreateCommandQueueWithProperties(nullptr, device, nullptr, &err));
  EXPECT_EQ(CL_INVALID_CONTEXT, err);
}

TEST_F(clCreateCommandQueueWithProperties, GivenManyQueuesThenAllWork) {
  std::vector<Queue> queues;
  for (int i = 0; i < 16; ++i) queues.push_back(make_queue(0, devices()[i % devices().size()]));
  const Mem mem = buffer<cl_int>(1);
  for (cl_int i = 0; i < 16; ++i) {
    cl_int back = -1;
    ASSERT_CL(clEnqueueWriteBuffer(queues[i], mem, CL_TRUE, 0, sizeof i, &i, 0, nullptr, nullptr));
    ASSERT_CL(clEnqueueReadBuffer(queues[15 - i], mem, CL_TRUE, 0, sizeof back, &back, 0, nullptr, nullptr));
    EXPECT_EQ(i, back);
  }
}

}  // namespace clique::test::suite_clCreateCommandQueueWithProperties
