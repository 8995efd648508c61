// clGetCommandQueueInfo: OpenCL 3.0, section 5.1.
#include "checks.hpp"

namespace clique::test::suite_clGetCommandQueueInfo {

class clGetCommandQueueInfo : public ApiTest {};

TEST_F(clGetCommandQueueInfo, GivenQueueThenItsContextDeviceAndProperties) {
  for (const cl_device_id each : devices()) {
    const Queue made = make_queue(CL_QUEUE_PROFILING_ENABLE, each);
    EXPECT_EQ(context.get(), info<cl_context>(::clGetCommandQueueInfo, made.get(), CL_QUEUE_CONTEXT));
    EXPECT_EQ(each, info<cl_device_id>(::clGetCommandQueueInfo, made.get(), CL_QUEUE_DEVICE));
    EXPECT_EQ(cl_command_queue_properties{CL_QUEUE_PROFILING_ENABLE},
              info<cl_command_queue_properties>(::clGetCommandQueueInfo, made.get(), CL_QUEUE_PROPERTIES));
    EXPECT_EQ(1U, info<cl_uint>(::clGetCommandQueueInfo, made.get(), CL_QUEUE_REFERENCE_COUNT));
  }
}

TEST_F(clGetCommandQueueInfo, GivenNoPropertiesThenEmptyArray) {
  cl_int err = CL_SUCCESS;
  const Queue made(clCreateCommandQueueWithProperties(context, device, nullptr, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  size_t size = 1;
  EXPECT_CL(::clGetCommandQueueInfo(made, CL_QUEUE_PROPERTIES_ARRAY, 0, nullptr, &size));
  EXPECT_EQ(0U, size);
}

TEST_F(clGetCommandQueueInfo, GivenTerminatorOnlyThenArrayHasIt) {
  const std::vector<cl_queue_properties> properties = {0};
  cl_int err = CL_SUCCESS;
  const Queue made(clCreateCommandQueueWithProperties(context, device, properties.data(), &err));
  ASSERT_EQ(CL_SUCCESS, err);
  EXPECT_EQ(properties, info<std::vector<cl_queue_properties>>(::clGetCommandQueueInfo, made.get(),
                                                               CL_QUEUE_PROPERTIES_ARRAY));
}

TEST_F(clGetCommandQueueInfo, GivenHostQueueThenItHasNoSize) {
  cl_uint size = 0;
  EXPECT_EQ(CL_INVALID_COMMAND_QUEUE,
            ::clGetCommandQueueInfo(queue, CL_QUEUE_SIZE, sizeof size, &size, nullptr));
}

TEST_F(clGetCommandQueueInfo, GivenDeviceWithoutDeviceQueuesThenNoDefaultQueue) {
  if (info<cl_device_device_enqueue_capabilities>(clGetDeviceInfo, device,
                                                  CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES) != 0)
    GTEST_SKIP() << "the device supports device queues";
  EXPECT_EQ(nullptr, info<cl_command_queue>(::clGetCommandQueueInfo, queue.get(), CL_QUEUE_DEVICE_DEFAULT));
}

TEST_F(clGetCommandQueueInfo, GivenAnyNameThenSizeAndNameRulesHold) {
  for (const cl_command_queue_info name : {CL_QUEUE_CONTEXT, CL_QUEUE_DEVICE, CL_QUEUE_REFERENCE_COUNT,
                                           CL_QUEUE_PROPERTIES, CL_QUEUE_PROPERTIES_ARRAY}) {
    SCOPED_TRACE(name);
    expect_info_rules(::clGetCommandQueueInfo, queue.get(), name);
  }
}

TEST_F(clGetCommandQueueInfo, GivenNullThenInvalidCommandQueue) {
  cl_context value = nullptr;
  EXPECT_EQ(CL_INVALID_COMMAND_QUEUE,
            ::clGetCommandQueueInfo(nullptr, CL_QUEUE_CONTEXT, sizeof value, &value, nullptr));
}

}  // namespace clique::test::suite_clGetCommandQueueInfo
