// clSetUserEventStatus: OpenCL 3.0, section 5.11.
#include "helpers.hpp"

namespace clique::test::suite_clSetUserEventStatus {

class clSetUserEventStatus : public ApiTest {};

TEST_F(clSetUserEventStatus, GivenCompleteThenStatusIsComplete) {
  const Event user = user_event();
  EXPECT_CL(::clSetUserEventStatus(user, CL_COMPLETE));
  EXPECT_EQ(CL_COMPLETE, status_of(user));
}

TEST_F(clSetUserEventStatus, GivenNegativeThenStatusIsThatValue) {
  const Event user = user_event();
  EXPECT_CL(::clSetUserEventStatus(user, -1234));
  EXPECT_EQ(-1234, status_of(user));
}

TEST_F(clSetUserEventStatus, GivenSecondCallThenInvalidOperationAndFirstStatusStays) {
  const Event done = user_event();
  EXPECT_CL(::clSetUserEventStatus(done, CL_COMPLETE));
  EXPECT_EQ(CL_INVALID_OPERATION, ::clSetUserEventStatus(done, CL_COMPLETE));
  EXPECT_EQ(CL_INVALID_OPERATION, ::clSetUserEventStatus(done, -1));
  EXPECT_EQ(CL_COMPLETE, status_of(done));
  const Event failed = user_event();
  EXPECT_CL(::clSetUserEventStatus(failed, -5));
  EXPECT_EQ(CL_INVALID_OPERATION, ::clSetUserEventStatus(failed, CL_COMPLETE));
  EXPECT_EQ(-5, status_of(failed));
}

TEST_F(clSetUserEventStatus, GivenDependantThenItRunsWhenTheEventIsComplete) {
  const int values[] = {1, 2};
  const Mem mem = buffer<int>(1, &values[0]);
  Gate gate(context);
  ASSERT_CL(clEnqueueWriteBuffer(queue, mem, CL_FALSE, 0, sizeof(int), &values[1], 1, gate.ptr(), nullptr));
  gate.open();
  EXPECT_EQ(2, read<int>(mem, 1).front());
}

TEST_F(clSetUserEventStatus, GivenFailureThenDependantFailsAndDoesNotRun) {
  const Queue any_order = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const Program program = build("kernel void k(global int* out) { *out = 2; }");
  const Kernel k = kernel(program, "k");
  const int before = 1;
  const Mem mem = buffer<int>(1, &before);
  set_args(k, mem);
  Gate gate(context);
  Event event;
  ASSERT_CL(launch(any_order, k, 1, {gate}, event.out()));
  gate.fail();
  EXPECT_EQ(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, event.ptr()));
  EXPECT_LT(status_of(event), 0);
  EXPECT_EQ(1, read<int>(mem, 1).front());
}

TEST_F(clSetUserEventStatus, GivenFailureThenItReachesDependantsOfDependantsOnAllDevices) {
  const Mem mem = buffer<int>(16);
  const int pattern = 3;
  std::vector<Queue> queues;
  std::vector<Event> events;
  Gate gate(context);
  cl_event previous = gate;
  for (size_t i = 0; i < 3 * devices().size(); ++i) {
    queues.push_back(make_queue(0, devices()[i % devices().size()]));
    events.emplace_back();
    ASSERT_CL(clEnqueueFillBuffer(queues.back(), mem, &pattern, sizeof pattern, 0, 64, 1, &previous,
                                  events.back().out()));
    previous = events.back();
    ASSERT_CL(clFlush(queues.back()));
  }
  gate.fail();
  EXPECT_EQ(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, events.back().ptr()));
  for (const Event& event : events) EXPECT_LT(status_of(event), 0);
}

TEST_F(clSetUserEventStatus, GivenFailureThenBlockingReadAfterItReturnsError) {
  const Queue any_order = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const Mem mem = buffer<int>(1);
  const Event user = user_event();
  ASSERT_CL(::clSetUserEventStatus(user, -1));
  int value = 0;
  EXPECT_EQ(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
            clEnqueueReadBuffer(any_order, mem, CL_TRUE, 0, sizeof value, &value, 1, user.ptr(), nullptr));
}

TEST_F(clSetUserEventStatus, GivenFailureThenQueueStaysUsable) {
  const Queue any_order = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const int values[] = {1, 2};
  const Mem mem = buffer<int>(1, &values[0]);
  {
    Gate gate(context);
    Event event;
    ASSERT_CL(clEnqueueMarkerWithWaitList(any_order, 1, gate.ptr(), event.out()));
    gate.fail();
    EXPECT_EQ(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, event.ptr()));
  }
  ASSERT_CL(clEnqueueWriteBuffer(any_order, mem, CL_TRUE, 0, sizeof(int), &values[1], 0, nullptr, nullptr));
  EXPECT_EQ(2, read<int>(mem, 1).front());
}

TEST_F(clSetUserEventStatus, GivenFailureInTheMiddleOfAQueueThenWhatIsNextStillFollowsWhatWasBefore) {
  const int values[] = {1, 2};
  const Mem mem = buffer<int>(1, &values[0]);
  const Mem other = buffer<int>(1, &values[0]);
  const Queue beside = make_queue();
  int there = 0;
  Event done;
  Gate before(context);
  ASSERT_CL(clEnqueueWriteBuffer(queue, mem, CL_FALSE, 0, sizeof(int), &values[1], 1, before.ptr(), nullptr));
  Gate middle(context);
  ASSERT_CL(clEnqueueMarkerWithWaitList(queue, 1, middle.ptr(), nullptr));
  ASSERT_CL(clFlush(queue));
  middle.fail();
  ASSERT_CL(clEnqueueReadBuffer(queue, mem, CL_FALSE, 0, sizeof(int), &there, 0, nullptr, done.out()));
  ASSERT_CL(clFlush(queue));
  // Gives the read time to run too early.
  for (int i = 0; i < 10; ++i)
    ASSERT_CL(clEnqueueWriteBuffer(beside, other, CL_TRUE, 0, sizeof(int), &values[0], 0, nullptr, nullptr));
  EXPECT_GT(status_of(done), CL_COMPLETE);
  before.open();
  EXPECT_CL(clWaitForEvents(1, done.ptr()));
  EXPECT_EQ(2, there);
}

TEST_F(clSetUserEventStatus, GivenPositiveStatusThenInvalidValue) {
  const Event user = user_event();
  EXPECT_EQ(CL_INVALID_VALUE, ::clSetUserEventStatus(user, CL_RUNNING));
  EXPECT_EQ(CL_INVALID_VALUE, ::clSetUserEventStatus(user, CL_SUBMITTED));
  EXPECT_EQ(CL_INVALID_VALUE, ::clSetUserEventStatus(user, 77));
  EXPECT_EQ(CL_SUBMITTED, status_of(user));
}

TEST_F(clSetUserEventStatus, GivenEventOfACommandThenInvalidEvent) {
  Event marker;
  ASSERT_CL(clEnqueueMarkerWithWaitList(queue, 0, nullptr, marker.out()));
  EXPECT_EQ(CL_INVALID_EVENT, ::clSetUserEventStatus(marker, CL_COMPLETE));
  ASSERT_CL(clFinish(queue));
}

TEST_F(clSetUserEventStatus, GivenNullThenInvalidEvent) {
  EXPECT_EQ(CL_INVALID_EVENT, ::clSetUserEventStatus(nullptr, CL_COMPLETE));
}

}  // namespace clique::test::suite_clSetUserEventStatus
