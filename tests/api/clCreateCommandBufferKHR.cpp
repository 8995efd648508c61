// clCreateCommandBufferKHR: cl_khr_command_buffer 0.9.1.
#include "command_buffers.hpp"

namespace clique::test {

class clCreateCommandBufferKHR : public CommandBufferTest {
 protected:
  /// The error code of a call that has to fail.
  cl_int refused(cl_uint count, const cl_command_queue* queues,
                 const cl_command_buffer_properties_khr* properties = nullptr) {
    cl_int err = CL_SUCCESS;
    EXPECT_EQ(nullptr, call.create(count, queues, properties, &err));
    return err;
  }
};

TEST_F(clCreateCommandBufferKHR, GivenDevicesThenAllReportTheExtensionAndWhatTheyCan) {
  for (cl_device_id one : devices()) {
    const auto versions =
        info<std::vector<cl_name_version>>(clGetDeviceInfo, one, CL_DEVICE_EXTENSIONS_WITH_VERSION);
    const auto found = std::find_if(versions.begin(), versions.end(), [](const cl_name_version& extension) {
      return std::string(extension.name) == "cl_khr_command_buffer";
    });
    ASSERT_NE(versions.end(), found);
    EXPECT_EQ(cl_version{CL_MAKE_VERSION(0, 9, 1)}, found->version);
    cl_device_command_buffer_capabilities_khr expected =
        CL_COMMAND_BUFFER_CAPABILITY_KERNEL_PRINTF_KHR | CL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR;
    if (keeps_no_order(one)) expected |= CL_COMMAND_BUFFER_CAPABILITY_OUT_OF_ORDER_KHR;
    EXPECT_EQ(expected, info<cl_device_command_buffer_capabilities_khr>(
                            clGetDeviceInfo, one, CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR));
    EXPECT_EQ(0U, info<cl_command_queue_properties>(clGetDeviceInfo, one,
                                                    CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR));
  }
}

TEST_F(clCreateCommandBufferKHR, GivenQueueThenItRecords) {
  cl_int err = CL_INVALID_VALUE;
  const CommandBuffer made(call.create(1, queue.ptr(), nullptr, &err));
  EXPECT_EQ(CL_SUCCESS, err);
  EXPECT_EQ(cl_command_buffer_state_khr{CL_COMMAND_BUFFER_STATE_RECORDING_KHR}, state_of(made));
  EXPECT_NE(nullptr, CommandBuffer(call.create(1, queue.ptr(), nullptr, nullptr)).get());
}

TEST_F(clCreateCommandBufferKHR, GivenNotOneQueueThenInvalidValue) {
  const cl_command_queue two[] = {queue, queue};
  EXPECT_EQ(CL_INVALID_VALUE, refused(0, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, refused(0, two));
  EXPECT_EQ(CL_INVALID_VALUE, refused(1, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, refused(2, two));
}

TEST_F(clCreateCommandBufferKHR, GivenNoQueueThenInvalidCommandQueue) {
  for (const cl_command_queue bad : {cl_command_queue{}, foreign_handle<cl_command_queue>()})
    EXPECT_EQ(CL_INVALID_COMMAND_QUEUE, refused(1, &bad));
}

TEST_F(clCreateCommandBufferKHR, GivenOutOfOrderQueueThenItRecords) {
  if (!keeps_no_order(device)) GTEST_SKIP() << "the device has no such queues";
  const Queue unordered = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  cl_int err = CL_INVALID_VALUE;
  EXPECT_NE(nullptr, CommandBuffer(call.create(1, unordered.ptr(), nullptr, &err)).get());
  EXPECT_EQ(CL_SUCCESS, err);
}

TEST_F(clCreateCommandBufferKHR, GivenWrongPropertiesThenInvalidValue) {
  const cl_command_buffer_properties_khr unknown[] = {0x7FFF, 0, 0};
  const cl_command_buffer_properties_khr flags[] = {CL_COMMAND_BUFFER_FLAGS_KHR, 1U << 17U, 0};
  const cl_command_buffer_properties_khr twice[] = {CL_COMMAND_BUFFER_FLAGS_KHR, 0,
                                                    CL_COMMAND_BUFFER_FLAGS_KHR, 0, 0};
  EXPECT_EQ(CL_INVALID_VALUE, refused(1, queue.ptr(), unknown));
  EXPECT_EQ(CL_INVALID_VALUE, refused(1, queue.ptr(), flags));
  EXPECT_EQ(CL_INVALID_VALUE, refused(1, queue.ptr(), twice));
}

}  // namespace clique::test
