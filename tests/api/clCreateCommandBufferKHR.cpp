// clCreateCommandBufferKHR: cl_khr_command_buffer 0.9.8.
#include "command_buffers.hpp"

namespace clique::test::suite_clCreateCommandBufferKHR {

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
    const std::pair<const char*, cl_version> extensions[] = {
        {"cl_khr_command_buffer", CL_MAKE_VERSION(0, 9, 8)},
        {"cl_khr_command_buffer_multi_device", CL_MAKE_VERSION(0, 9, 2)},
        {"cl_khr_command_buffer_mutable_dispatch", CL_MAKE_VERSION(0, 9, 5)}};
    for (const auto& [name, version] : extensions) {
      const auto found = std::find_if(
          versions.begin(), versions.end(),
          [name = name](const cl_name_version& extension) { return std::string(extension.name) == name; });
      ASSERT_NE(versions.end(), found) << name;
      EXPECT_EQ(version, found->version) << name;
    }
    cl_device_command_buffer_capabilities_khr expected = CL_COMMAND_BUFFER_CAPABILITY_KERNEL_PRINTF_KHR |
                                                         CL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR |
                                                         icd::kCapabilityMultipleQueues;
    if (keeps_no_order(one)) expected |= icd::kCapabilityOutOfOrder;
    EXPECT_EQ(expected, info<cl_device_command_buffer_capabilities_khr>(
                            clGetDeviceInfo, one, CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR));
    EXPECT_EQ(0U, info<cl_command_queue_properties>(clGetDeviceInfo, one,
                                                    CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR));
    const auto queues =
        info<cl_command_queue_properties>(clGetDeviceInfo, one, CL_DEVICE_QUEUE_ON_HOST_PROPERTIES);
    EXPECT_EQ(queues | CL_QUEUE_PROFILING_ENABLE,
              info<cl_command_queue_properties>(clGetDeviceInfo, one, icd::kSupportedQueueProperties));
    EXPECT_EQ(1U, info<cl_uint>(clGetDeviceInfo, one, icd::kNumSyncDevices));
    EXPECT_EQ(std::vector<cl_device_id>{one},
              info<std::vector<cl_device_id>>(clGetDeviceInfo, one, icd::kSyncDevices));
    EXPECT_EQ(cl_mutable_dispatch_fields_khr{0x1F},
              info<cl_mutable_dispatch_fields_khr>(clGetDeviceInfo, one,
                                                   CL_DEVICE_MUTABLE_DISPATCH_CAPABILITIES_KHR));
  }
}

TEST_F(clCreateCommandBufferKHR, GivenQueueThenItRecords) {
  cl_int err = CL_INVALID_VALUE;
  const CommandBuffer made(call.create(1, queue.ptr(), nullptr, &err));
  EXPECT_EQ(CL_SUCCESS, err);
  EXPECT_EQ(cl_command_buffer_state_khr{CL_COMMAND_BUFFER_STATE_RECORDING_KHR}, state_of(made));
  EXPECT_NE(nullptr, CommandBuffer(call.create(1, queue.ptr(), nullptr, nullptr)).get());
}

TEST_F(clCreateCommandBufferKHR, GivenPlatformThenItSaysWhatItCan) {
  EXPECT_EQ(icd::kPlatformUniversalSync | icd::kPlatformRemapQueues | icd::kPlatformAutomaticRemap,
            info<cl_bitfield>(clGetPlatformInfo, platform(), icd::kPlatformCapabilities));
}

TEST_F(clCreateCommandBufferKHR, GivenNoQueuesThenInvalidValue) {
  EXPECT_EQ(CL_INVALID_VALUE, refused(0, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, refused(0, queue.ptr()));
  EXPECT_EQ(CL_INVALID_VALUE, refused(1, nullptr));
}

TEST_F(clCreateCommandBufferKHR, GivenQueuesOfDifferentContextsThenInvalidContext) {
  const OtherContext other;
  const cl_command_queue two[] = {queue, other.queue};
  EXPECT_EQ(CL_INVALID_CONTEXT, refused(2, two));
}

TEST_F(clCreateCommandBufferKHR, GivenDeviceSideSyncThenAllQueuesHaveOneDevice) {
  const cl_command_buffer_properties_khr native[] = {CL_COMMAND_BUFFER_FLAGS_KHR, icd::kDeviceSideSync, 0};
  const Queue same = make_queue(0);
  const cl_command_queue of_one[] = {queue, same};
  EXPECT_NE(nullptr, CommandBuffer(call.create(2, of_one, native, nullptr)).get());
  for (cl_device_id other : devices()) {
    if (other == device) continue;
    const Queue elsewhere = make_queue(0, other);
    const cl_command_queue of_two[] = {queue, elsewhere};
    EXPECT_EQ(CL_INCOMPATIBLE_COMMAND_QUEUE_KHR, refused(2, of_two, native));
    EXPECT_NE(nullptr, CommandBuffer(call.create(2, of_two, nullptr, nullptr)).get());
  }
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
  const cl_command_buffer_properties_khr asserts[] = {icd::kDispatchAsserts, 2, 0};
  EXPECT_EQ(CL_INVALID_VALUE, refused(1, queue.ptr(), asserts));
  EXPECT_EQ(CL_INVALID_VALUE, refused(1, queue.ptr(), unknown));
  EXPECT_EQ(CL_INVALID_VALUE, refused(1, queue.ptr(), flags));
  EXPECT_EQ(CL_INVALID_VALUE, refused(1, queue.ptr(), twice));
}

}  // namespace clique::test::suite_clCreateCommandBufferKHR
