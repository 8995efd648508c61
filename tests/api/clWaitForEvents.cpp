// clWaitForEvents: OpenCL 3.0, section 5.11.
#include <atomic>
#include <thread>

#include "helpers.hpp"

namespace clique::test::suite_clWaitForEvents {

class clWaitForEvents : public ApiTest {};

TEST_F(clWaitForEvents, GivenCompleteEventsThenReturns) {
  const Event user = user_event();
  ASSERT_CL(clSetUserEventStatus(user, CL_COMPLETE));
  Event marker;
  ASSERT_CL(clEnqueueMarkerWithWaitList(queue, 0, nullptr, marker.out()));
  const cl_event both[] = {user, marker};
  EXPECT_CL(::clWaitForEvents(2, both));
  EXPECT_EQ(CL_COMPLETE, status_of(marker));
  EXPECT_CL(::clWaitForEvents(2, both));
}

TEST_F(clWaitForEvents, GivenUserEventThenReturnsNotBeforeItIsSet) {
  const Event user = user_event();
  std::atomic<bool> set = false;
  std::thread setter([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    set = true;
    EXPECT_CL(clSetUserEventStatus(user, CL_COMPLETE));
  });
  EXPECT_CL(::clWaitForEvents(1, user.ptr()));
  EXPECT_TRUE(set);
  setter.join();
}

TEST_F(clWaitForEvents, GivenUnflushedCommandThenWaitingFlushesIt) {
  const int value = 4;
  const Mem mem = buffer<int>(1);
  Event written;
  ASSERT_CL(clEnqueueWriteBuffer(queue, mem, CL_FALSE, 0, sizeof value, &value, 0, nullptr, written.out()));
  EXPECT_CL(::clWaitForEvents(1, written.ptr()));
  EXPECT_EQ(CL_COMPLETE, status_of(written));
}

TEST_F(clWaitForEvents, GivenEventsOfAllDevicesThenAllAreComplete) {
  const Program program = build("kernel void k(global int* out, int value) { *out = value; }");
  const Kernel k = kernel(program, "k");
  std::vector<Queue> queues;
  std::vector<Mem> mems;
  std::vector<Event> events;
  std::vector<cl_event> handles;
  for (size_t i = 0; i < 3 * devices().size(); ++i) {
    queues.push_back(make_queue(0, devices()[i % devices().size()]));
    mems.push_back(buffer<int>(1));
    events.emplace_back();
    set_args(k, mems.back(), static_cast<int>(i));
    ASSERT_CL(launch(queues.back(), k, 1, {}, events.back().out()));
    handles.push_back(events.back());
  }
  ASSERT_CL(::clWaitForEvents(static_cast<cl_uint>(handles.size()), handles.data()));
  for (size_t i = 0; i < mems.size(); ++i) {
    EXPECT_EQ(CL_COMPLETE, status_of(handles[i]));
    EXPECT_EQ(static_cast<int>(i), read<int>(mems[i], 1).front());
  }
}

TEST_F(clWaitForEvents, GivenManyThreadsThatWaitForOneEventThenAllReturn) {
  const Event user = user_event();
  std::atomic<int> returned = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      EXPECT_CL(::clWaitForEvents(1, user.ptr()));
      ++returned;
    });
  }
  ASSERT_CL(clSetUserEventStatus(user, CL_COMPLETE));
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(4, returned);
}

TEST_F(clWaitForEvents, GivenFailedEventThenExecStatusErrorForEventsInWaitList) {
  const Event good = user_event();
  const Event bad = user_event();
  ASSERT_CL(clSetUserEventStatus(good, CL_COMPLETE));
  ASSERT_CL(clSetUserEventStatus(bad, -7));
  const cl_event both[] = {good, bad};
  EXPECT_EQ(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, ::clWaitForEvents(2, both));
  EXPECT_CL(::clWaitForEvents(1, good.ptr()));
}

TEST_F(clWaitForEvents, GivenFailureWhileWaitingThenExecStatusErrorForEventsInWaitList) {
  const Event user = user_event();
  std::thread setter([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_CL(clSetUserEventStatus(user, -7));
  });
  EXPECT_EQ(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, ::clWaitForEvents(1, user.ptr()));
  setter.join();
}

TEST_F(clWaitForEvents, GivenNoEventsThenInvalidValue) {
  const Event user = user_event();
  EXPECT_EQ(CL_INVALID_VALUE, ::clWaitForEvents(0, user.ptr()));
  EXPECT_EQ(CL_INVALID_VALUE, ::clWaitForEvents(0, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, ::clWaitForEvents(1, nullptr));
}

TEST_F(clWaitForEvents, GivenEventsOfTwoContextsThenInvalidContext) {
  const OtherContext other;
  const Event user = user_event();
  ASSERT_CL(clSetUserEventStatus(user, CL_COMPLETE));
  const cl_event both[] = {user, other.event};
  EXPECT_EQ(CL_INVALID_CONTEXT, ::clWaitForEvents(2, both));
}

TEST_F(clWaitForEvents, GivenHandleThatIsNoEventThenInvalidEvent) {
  const Event user = user_event();
  ASSERT_CL(clSetUserEventStatus(user, CL_COMPLETE));
  const cl_event with_foreign[] = {user, foreign_handle<cl_event>()};
  const cl_event with_null[] = {user, nullptr};
  EXPECT_EQ(CL_INVALID_EVENT, ::clWaitForEvents(2, with_foreign));
  EXPECT_EQ(CL_INVALID_EVENT, ::clWaitForEvents(2, with_null));
}

}  // namespace clique::test::suite_clWaitForEvents
