// clGetEventProfilingInfo: OpenCL 3.0, section 5.14.
#include <algorithm>
#include <chrono>
#include <thread>

#include "checks.hpp"

namespace clique::test::suite_clGetEventProfilingInfo {

class clGetEventProfilingInfo : public ApiTest {
 protected:
  static std::vector<cl_ulong> times(cl_event event) {
    std::vector<cl_ulong> result;
    for (const cl_profiling_info name :
         {CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT, CL_PROFILING_COMMAND_START,
          CL_PROFILING_COMMAND_END, CL_PROFILING_COMMAND_COMPLETE})
      result.push_back(info<cl_ulong>(::clGetEventProfilingInfo, event, name));
    return result;
  }
  static void expect_ordered(cl_event event) {
    const std::vector<cl_ulong> all = times(event);
    EXPECT_TRUE(std::is_sorted(all.begin(), all.end())) << ::testing::PrintToString(all);
    EXPECT_GT(all.front(), 0U);
  }
  static cl_int query(cl_event event) {
    cl_ulong value = 0;
    return ::clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof value, &value, nullptr);
  }
};

TEST_F(clGetEventProfilingInfo, GivenKernelOnEveryDeviceThenTimesAreInOrder) {
  const Program program =
      build("kernel void k(global int* out) { for (int i = 0; i < 1000; ++i) *out += i; }");
  const Kernel k = kernel(program, "k");
  for (cl_device_id one : devices()) {
    const Queue profiled = make_queue(CL_QUEUE_PROFILING_ENABLE, one);
    const int zero = 0;
    const Mem mem = buffer<int>(1, &zero);
    set_args(k, mem);
    Event event;
    ASSERT_CL(launch(profiled, k, 1, {}, event.out()));
    ASSERT_CL(clFinish(profiled));
    expect_ordered(event);
  }
}

TEST_F(clGetEventProfilingInfo, GivenTransfersAndMarkersThenTimesAreInOrder) {
  std::vector<int> data(1000, 1);
  const Mem a = buffer<int>(1000);
  const Mem b = buffer<int>(1000);
  const int pattern = 5;
  std::vector<Event> events(6);
  const size_t size = data.size() * sizeof(int);
  ASSERT_CL(clEnqueueWriteBuffer(queue, a, CL_FALSE, 0, size, data.data(), 0, nullptr, events[0].out()));
  ASSERT_CL(clEnqueueCopyBuffer(queue, a, b, 0, 0, size, 0, nullptr, events[1].out()));
  ASSERT_CL(clEnqueueFillBuffer(queue, a, &pattern, sizeof pattern, 0, size, 0, nullptr, events[2].out()));
  ASSERT_CL(clEnqueueMarkerWithWaitList(queue, 0, nullptr, events[3].out()));
  ASSERT_CL(clEnqueueBarrierWithWaitList(queue, 0, nullptr, events[4].out()));
  ASSERT_CL(clEnqueueReadBuffer(queue, b, CL_FALSE, 0, size, data.data(), 0, nullptr, events[5].out()));
  ASSERT_CL(clFinish(queue));
  for (const Event& event : events) expect_ordered(event);
}

TEST_F(clGetEventProfilingInfo, GivenTwoCommandsInOrderThenTheSecondIsQueuedLaterAndStartsAfterTheFirstEnds) {
  const Mem mem = buffer<int>(1000);
  const int pattern = 5;
  Event first;
  Event second;
  ASSERT_CL(clEnqueueFillBuffer(queue, mem, &pattern, sizeof pattern, 0, 4000, 0, nullptr, first.out()));
  ASSERT_CL(clEnqueueFillBuffer(queue, mem, &pattern, sizeof pattern, 0, 4000, 0, nullptr, second.out()));
  ASSERT_CL(clFinish(queue));
  const std::vector<cl_ulong> a = times(first);
  const std::vector<cl_ulong> b = times(second);
  EXPECT_LE(a[0], b[0]);
  EXPECT_LE(a[3], b[2]);
}

TEST_F(clGetEventProfilingInfo, GivenEnqueuedCommandThenQueuedIsTheTimeOfTheCall) {
  Gate gate(context);
  const Mem mem = buffer<int>(1000);
  std::vector<int> data(1000, 1);
  const int pattern = 5;
  std::vector<Event> events(3);
  const auto now = [this] {
    cl_ulong device_time = 0;
    cl_ulong host_time = 0;
    EXPECT_CL(::clGetDeviceAndHostTimer(device, &device_time, &host_time));
    return device_time;
  };
  std::vector<cl_ulong> between = {now()};
  ASSERT_CL(
      clEnqueueFillBuffer(queue, mem, &pattern, sizeof pattern, 0, 4000, 1, gate.ptr(), events[0].out()));
  between.push_back(now());
  ASSERT_CL(clEnqueueReadBuffer(queue, mem, CL_FALSE, 0, 4000, data.data(), 1, gate.ptr(), events[1].out()));
  between.push_back(now());
  ASSERT_CL(clEnqueueMarkerWithWaitList(queue, 1, gate.ptr(), events[2].out()));
  between.push_back(now());
  // Longer than the estimate of a node's clock may be off, so that no command seems to start before its call.
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  gate.open();
  ASSERT_CL(clFinish(queue));
  for (std::size_t i = 0; i < events.size(); ++i) {
    expect_ordered(events[i]);
    EXPECT_LE(between[i], times(events[i]).front()) << i;
    EXPECT_GE(between[i + 1], times(events[i]).front()) << i;
  }
}

TEST_F(clGetEventProfilingInfo, GivenTimesThenTheyDoNotChange) {
  Event marker;
  ASSERT_CL(clEnqueueMarkerWithWaitList(queue, 0, nullptr, marker.out()));
  ASSERT_CL(clFinish(queue));
  const std::vector<cl_ulong> before = times(marker);
  EXPECT_EQ(before, times(marker));
}

TEST_F(clGetEventProfilingInfo, GivenQueueWithoutProfilingThenNotAvailable) {
  const Queue plain = make_queue();
  Event marker;
  ASSERT_CL(clEnqueueMarkerWithWaitList(plain, 0, nullptr, marker.out()));
  ASSERT_CL(clFinish(plain));
  EXPECT_EQ(CL_PROFILING_INFO_NOT_AVAILABLE, query(marker));
}

TEST_F(clGetEventProfilingInfo, GivenUnfinishedCommandThenNotAvailable) {
  Gate gate(context);
  Event marker;
  ASSERT_CL(clEnqueueMarkerWithWaitList(queue, 1, gate.ptr(), marker.out()));
  EXPECT_EQ(CL_PROFILING_INFO_NOT_AVAILABLE, query(marker));
  gate.open();
  ASSERT_CL(clFinish(queue));
  EXPECT_CL(query(marker));
}

TEST_F(clGetEventProfilingInfo, GivenUserEventThenNotAvailable) {
  const Event user = user_event();
  ASSERT_CL(clSetUserEventStatus(user, CL_COMPLETE));
  EXPECT_EQ(CL_PROFILING_INFO_NOT_AVAILABLE, query(user));
}

TEST_F(clGetEventProfilingInfo, GivenWrongSizeOrNameThenInvalidValue) {
  Event marker;
  ASSERT_CL(clEnqueueMarkerWithWaitList(queue, 0, nullptr, marker.out()));
  ASSERT_CL(clFinish(queue));
  for (const cl_profiling_info name :
       {CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT, CL_PROFILING_COMMAND_START,
        CL_PROFILING_COMMAND_END, CL_PROFILING_COMMAND_COMPLETE})
    expect_info_rules(::clGetEventProfilingInfo, marker.get(), name);
}

TEST_F(clGetEventProfilingInfo, GivenNullEventThenInvalidEvent) {
  EXPECT_EQ(CL_INVALID_EVENT, query(nullptr));
}

}  // namespace clique::test::suite_clGetEventProfilingInfo
