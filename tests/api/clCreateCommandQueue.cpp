// clCreateCommandQueue: OpenCL 3.0, section 5.1 (deprecated).
#include "checks.hpp"

namespace clique::test::suite_clCreateCommandQueue {

class clCreateCommandQueue : public ApiTest {
 protected:
  cl_int create(cl_device_id on, cl_command_queue_properties properties) {
    cl_int err = CL_SUCCESS;
    made = Queue(::clCreateCommandQueue(context, on, properties, &err));
    EXPECT_EQ(err == CL_SUCCESS, made.get() != nullptr) << err;
    return err;
  }
  Queue made;
};

TEST_F(clCreateCommandQueue, GivenDeviceThenQueueOnIt) {
  for (const cl_device_id each : devices()) {
    ASSERT_CL(create(each, 0));
    EXPECT_EQ(each, info<cl_device_id>(clGetCommandQueueInfo, made.get(), CL_QUEUE_DEVICE));
    EXPECT_EQ(context.get(), info<cl_context>(clGetCommandQueueInfo, made.get(), CL_QUEUE_CONTEXT));
    EXPECT_EQ(1U, info<cl_uint>(clGetCommandQueueInfo, made.get(), CL_QUEUE_REFERENCE_COUNT));
    EXPECT_CL(clFinish(made));
  }
}

TEST_F(clCreateCommandQueue, GivenSupportedPropertiesThenTheyAreReported) {
  const auto supported =
      info<cl_command_queue_properties>(clGetDeviceInfo, device, CL_DEVICE_QUEUE_ON_HOST_PROPERTIES);
  for (cl_command_queue_properties properties = 0; properties < 4; ++properties) {
    if ((properties & supported) == properties) {
      ASSERT_CL(create(device, properties)) << properties;
      EXPECT_EQ(properties,
                info<cl_command_queue_properties>(clGetCommandQueueInfo, made.get(), CL_QUEUE_PROPERTIES));
    } else {
      EXPECT_EQ(CL_INVALID_QUEUE_PROPERTIES, create(device, properties)) << properties;
    }
  }
}

TEST_F(clCreateCommandQueue, GivenQueueThenNoPropertiesArray) {
  ASSERT_CL(create(device, CL_QUEUE_PROFILING_ENABLE));
  size_t size = 1;
  EXPECT_CL(clGetCommandQueueInfo(made, CL_QUEUE_PROPERTIES_ARRAY, 0, nullptr, &size));
  EXPECT_EQ(0U, size);
}

TEST_F(clCreateCommandQueue, GivenUnknownPropertyBitThenInvalidValue) {
  EXPECT_EQ(CL_INVALID_VALUE, create(device, cl_command_queue_properties{1} << 20));
  EXPECT_EQ(CL_INVALID_VALUE, create(device, cl_command_queue_properties{1} << 60));
}

TEST_F(clCreateCommandQueue, GivenDeviceThatIsNoDeviceThenInvalidDevice) {
  EXPECT_EQ(CL_INVALID_DEVICE, create(nullptr, 0));
  EXPECT_EQ(CL_INVALID_DEVICE, create(foreign_handle<cl_device_id>(), 0));
}

TEST_F(clCreateCommandQueue, GivenDeviceOutsideTheContextThenInvalidDevice) {
  if (devices().size() < 2) GTEST_SKIP() << "the platform has one device";
  cl_int err = CL_SUCCESS;
  context = Context(clCreateContext(nullptr, 1, &devices()[0], nullptr, nullptr, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  EXPECT_EQ(CL_INVALID_DEVICE, create(devices()[1], 0));
}

TEST_F(clCreateCommandQueue, GivenNullContextThenInvalidContext) {
  cl_int err = CL_SUCCESS;
  EXPECT_EQ(nullptr, ::clCreateCommandQueue(nullptr, device, 0, &err));
  EXPECT_EQ(CL_INVALID_CONTEXT, err);
}

TEST_F(clCreateCommandQueue, GivenNoErrorPointerThenCreated) {
  made = Queue(::clCreateCommandQueue(context, device, 0, nullptr));
  EXPECT_NE(nullptr, made.get());
}

}  // namespace clique::test::suite_clCreateCommandQueue
