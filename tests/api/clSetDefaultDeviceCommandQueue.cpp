// clSetDefaultDeviceCommandQueue: OpenCL 3.0, section 5.1.
#include "helpers.hpp"

namespace clique::test::suite_clSetDefaultDeviceCommandQueue {

class clSetDefaultDeviceCommandQueue : public ApiTest {
 protected:
  bool supported() { return info<cl_uint>(clGetDeviceInfo, device, CL_DEVICE_MAX_ON_DEVICE_QUEUES) != 0; }
};

TEST_F(clSetDefaultDeviceCommandQueue, GivenDeviceWithoutQueuesOfItsOwnThenInvalidOperation) {
  if (supported()) GTEST_SKIP() << "the device has on-device queues";
  EXPECT_EQ(CL_INVALID_OPERATION, ::clSetDefaultDeviceCommandQueue(context, device, queue));
}

TEST_F(clSetDefaultDeviceCommandQueue, GivenNoQueueAndDeviceWithoutQueuesOfItsOwnThenInvalidOperation) {
  if (supported()) GTEST_SKIP() << "the device has on-device queues";
  EXPECT_EQ(CL_INVALID_OPERATION, ::clSetDefaultDeviceCommandQueue(context, device, nullptr));
}

TEST_F(clSetDefaultDeviceCommandQueue, GivenHostQueueThenInvalidCommandQueue) {
  if (!supported()) GTEST_SKIP() << "the device has no on-device queues";
  EXPECT_EQ(CL_INVALID_COMMAND_QUEUE, ::clSetDefaultDeviceCommandQueue(context, device, queue));
}

TEST_F(clSetDefaultDeviceCommandQueue, GivenHandleThatIsNoDeviceThenInvalidDevice) {
  EXPECT_EQ(CL_INVALID_DEVICE, ::clSetDefaultDeviceCommandQueue(context, nullptr, queue));
  EXPECT_EQ(CL_INVALID_DEVICE,
            ::clSetDefaultDeviceCommandQueue(context, foreign_handle<cl_device_id>(), queue));
}

TEST_F(clSetDefaultDeviceCommandQueue, GivenNullContextThenInvalidContext) {
  EXPECT_EQ(CL_INVALID_CONTEXT, ::clSetDefaultDeviceCommandQueue(nullptr, device, queue));
}

}  // namespace clique::test::suite_clSetDefaultDeviceCommandQueue
