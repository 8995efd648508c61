// clEnqueueWaitForEvents: OpenCL 3.0, deprecated entry points (OpenCL 1.1, section 5.9).
#include "helpers.hpp"

namespace clique::test::suite_clEnqueueWaitForEvents {

class clEnqueueWaitForEvents : public ApiTest {};

TEST_F(clEnqueueWaitForEvents, GivenOutOfOrderQueueThenLaterCommandsWaitForTheEvents) {
  const Queue any_order = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const int values[] = {1, 2};
  const Mem mem = buffer<int>(1, &values[0]);
  Gate gate(context);
  Event written;
  ASSERT_CL(::clEnqueueWaitForEvents(any_order, 1, gate.ptr()));
  ASSERT_CL(
      clEnqueueWriteBuffer(any_order, mem, CL_FALSE, 0, sizeof(int), &values[1], 0, nullptr, written.out()));
  ASSERT_CL(clFlush(any_order));
  EXPECT_GT(status_of(written), CL_RUNNING);
  gate.open();
  ASSERT_CL(clFinish(any_order));
  EXPECT_EQ(2, read<int>(mem, 1).front());
}

TEST_F(clEnqueueWaitForEvents, GivenEventOfAnotherDevicesQueueThenLaterCommandsWaitForIt) {
  const Queue first = make_queue(0, devices().front());
  const Queue second = make_queue(0, devices().back());
  const int values[] = {1, 2};
  const Mem mem = buffer<int>(1);
  Gate gate(context);
  Event written;
  int seen = 0;
  ASSERT_CL(
      clEnqueueWriteBuffer(first, mem, CL_FALSE, 0, sizeof(int), &values[1], 1, gate.ptr(), written.out()));
  ASSERT_CL(clFlush(first));
  ASSERT_CL(::clEnqueueWaitForEvents(second, 1, written.ptr()));
  ASSERT_CL(clEnqueueReadBuffer(second, mem, CL_FALSE, 0, sizeof(int), &seen, 0, nullptr, nullptr));
  gate.open();
  ASSERT_CL(clFinish(second));
  EXPECT_EQ(2, seen);
}

TEST_F(clEnqueueWaitForEvents, GivenNoEventsThenInvalidValue) {
  const Event user = user_event();
  ASSERT_CL(clSetUserEventStatus(user, CL_COMPLETE));
  EXPECT_EQ(CL_INVALID_VALUE, ::clEnqueueWaitForEvents(queue, 0, user.ptr()));
  EXPECT_EQ(CL_INVALID_VALUE, ::clEnqueueWaitForEvents(queue, 1, nullptr));
}

TEST_F(clEnqueueWaitForEvents, GivenEventOfAnotherContextThenInvalidContext) {
  const OtherContext other;
  EXPECT_EQ(CL_INVALID_CONTEXT, ::clEnqueueWaitForEvents(queue, 1, other.event.ptr()));
}

TEST_F(clEnqueueWaitForEvents, GivenHandleThatIsNoEventThenInvalidEvent) {
  const cl_event foreign = foreign_handle<cl_event>();
  const cl_event null = nullptr;
  EXPECT_EQ(CL_INVALID_EVENT, ::clEnqueueWaitForEvents(queue, 1, &foreign));
  EXPECT_EQ(CL_INVALID_EVENT, ::clEnqueueWaitForEvents(queue, 1, &null));
}

TEST_F(clEnqueueWaitForEvents, GivenNullQueueThenInvalidCommandQueue) {
  const Event user = user_event();
  ASSERT_CL(clSetUserEventStatus(user, CL_COMPLETE));
  EXPECT_EQ(CL_INVALID_COMMAND_QUEUE, ::clEnqueueWaitForEvents(nullptr, 1, user.ptr()));
}

}  // namespace clique::test::suite_clEnqueueWaitForEvents
