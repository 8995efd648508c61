// clGetHostTimer: OpenCL 3.0, section 4.3.
#include "helpers.hpp"

namespace clique::test::suite_clGetHostTimer {

class clGetHostTimer : public ApiTest {
 protected:
  static bool supported() {
    return info<cl_ulong>(clGetPlatformInfo, platform(), CL_PLATFORM_HOST_TIMER_RESOLUTION) != 0;
  }
};

TEST_F(clGetHostTimer, GivenPlatformWithoutTimersThenInvalidOperation) {
  if (supported()) GTEST_SKIP() << "the platform has timers";
  cl_ulong time = 0;
  EXPECT_EQ(CL_INVALID_OPERATION, ::clGetHostTimer(device, &time));
}

TEST_F(clGetHostTimer, GivenCallsForAllDevicesThenTimeGoesForward) {
  if (!supported()) GTEST_SKIP() << "the platform has no timers";
  cl_ulong last = 0;
  for (int round = 0; round < 3; ++round) {
    for (cl_device_id one : devices()) {
      cl_ulong time = 0;
      ASSERT_CL(::clGetHostTimer(one, &time));
      EXPECT_LE(last, time);
      last = time;
    }
  }
  EXPECT_GT(last, 0U);
}

TEST_F(clGetHostTimer, GivenNullPointerThenInvalidValue) {
  if (!supported()) GTEST_SKIP() << "the platform has no timers";
  EXPECT_EQ(CL_INVALID_VALUE, ::clGetHostTimer(device, nullptr));
}

TEST_F(clGetHostTimer, GivenNullDeviceThenInvalidDevice) {
  cl_ulong time = 0;
  EXPECT_EQ(CL_INVALID_DEVICE, ::clGetHostTimer(nullptr, &time));
}

}  // namespace clique::test::suite_clGetHostTimer
