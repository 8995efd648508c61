// clGetDeviceAndHostTimer: OpenCL 3.0, section 4.3.
#include "helpers.hpp"

namespace clique::test::suite_clGetDeviceAndHostTimer {

class clGetDeviceAndHostTimer : public ApiTest {
 protected:
  static bool supported() {
    return info<cl_ulong>(clGetPlatformInfo, platform(), CL_PLATFORM_HOST_TIMER_RESOLUTION) != 0;
  }
};

TEST_F(clGetDeviceAndHostTimer, GivenPlatformWithoutTimersThenInvalidOperation) {
  if (supported()) GTEST_SKIP() << "the platform has timers";
  cl_ulong device_time = 0;
  cl_ulong host_time = 0;
  EXPECT_EQ(CL_INVALID_OPERATION, ::clGetDeviceAndHostTimer(device, &device_time, &host_time));
}

TEST_F(clGetDeviceAndHostTimer, GivenTwoCallsThenBothTimersGoForward) {
  if (!supported()) GTEST_SKIP() << "the platform has no timers";
  for (cl_device_id one : devices()) {
    cl_ulong device_times[2] = {};
    cl_ulong host_times[2] = {};
    for (int i = 0; i < 2; ++i) ASSERT_CL(::clGetDeviceAndHostTimer(one, &device_times[i], &host_times[i]));
    EXPECT_LE(device_times[0], device_times[1]);
    EXPECT_LE(host_times[0], host_times[1]);
    EXPECT_GT(device_times[0], 0U);
  }
}

TEST_F(clGetDeviceAndHostTimer, GivenHostTimersAroundItThenItsHostTimeIsBetween) {
  if (!supported()) GTEST_SKIP() << "the platform has no timers";
  cl_ulong before = 0;
  cl_ulong after = 0;
  cl_ulong device_time = 0;
  cl_ulong host_time = 0;
  ASSERT_CL(clGetHostTimer(device, &before));
  ASSERT_CL(::clGetDeviceAndHostTimer(device, &device_time, &host_time));
  ASSERT_CL(clGetHostTimer(device, &after));
  EXPECT_LE(before, host_time);
  EXPECT_LE(host_time, after);
}

TEST_F(clGetDeviceAndHostTimer, GivenProfiledCommandThenDeviceTimerIsOfTheSameClock) {
  if (!supported()) GTEST_SKIP() << "the platform has no timers";
  cl_ulong before = 0;
  cl_ulong after = 0;
  cl_ulong host_time = 0;
  ASSERT_CL(::clGetDeviceAndHostTimer(device, &before, &host_time));
  Event marker;
  ASSERT_CL(clEnqueueMarkerWithWaitList(queue, 0, nullptr, marker.out()));
  ASSERT_CL(clFinish(queue));
  ASSERT_CL(::clGetDeviceAndHostTimer(device, &after, &host_time));
  const auto queued = info<cl_ulong>(clGetEventProfilingInfo, marker.get(), CL_PROFILING_COMMAND_QUEUED);
  const auto end = info<cl_ulong>(clGetEventProfilingInfo, marker.get(), CL_PROFILING_COMMAND_END);
  // A tolerance of one minute tells clocks with different origins apart and allows for rounding in drivers.
  const cl_ulong minute = 60'000'000'000;
  EXPECT_LE(before, queued + minute);
  EXPECT_LE(end, after + minute);
}

TEST_F(clGetDeviceAndHostTimer, GivenNullPointersThenInvalidValue) {
  if (!supported()) GTEST_SKIP() << "the platform has no timers";
  cl_ulong time = 0;
  EXPECT_EQ(CL_INVALID_VALUE, ::clGetDeviceAndHostTimer(device, nullptr, &time));
  EXPECT_EQ(CL_INVALID_VALUE, ::clGetDeviceAndHostTimer(device, &time, nullptr));
}

TEST_F(clGetDeviceAndHostTimer, GivenNullDeviceThenInvalidDevice) {
  cl_ulong device_time = 0;
  cl_ulong host_time = 0;
  EXPECT_EQ(CL_INVALID_DEVICE, ::clGetDeviceAndHostTimer(nullptr, &device_time, &host_time));
}

}  // namespace clique::test::suite_clGetDeviceAndHostTimer
