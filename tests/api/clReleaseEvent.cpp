// clReleaseEvent: OpenCL 3.0, section 5.11.
#include "helpers.hpp"

namespace clique::test::suite_clReleaseEvent {

class clReleaseEvent : public ApiTest {};

TEST_F(clReleaseEvent, GivenDependantWhenEventIsReleasedThenDependencyHolds) {
  const Queue any_order = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const int values[] = {1, 2, 3};
  const Mem mem = buffer<int>(1, &values[0]);
  Gate gate(context);
  Event first;
  Event second;
  ASSERT_CL(
      clEnqueueWriteBuffer(any_order, mem, CL_FALSE, 0, sizeof(int), &values[1], 1, gate.ptr(), first.out()));
  ASSERT_CL(clEnqueueWriteBuffer(any_order, mem, CL_FALSE, 0, sizeof(int), &values[2], 1, first.ptr(),
                                 second.out()));
  EXPECT_CL(::clReleaseEvent(first.release_ownership()));
  EXPECT_GT(status_of(second), CL_RUNNING);
  gate.open();
  ASSERT_CL(clWaitForEvents(1, second.ptr()));
  EXPECT_EQ(3, read<int>(mem, 1).front());
}

TEST_F(clReleaseEvent, GivenPendingCommandWhenItsEventIsReleasedThenItStillRuns) {
  const int values[] = {1, 2};
  const Mem mem = buffer<int>(1, &values[0]);
  Gate gate(context);
  Event event;
  ASSERT_CL(
      clEnqueueWriteBuffer(queue, mem, CL_FALSE, 0, sizeof(int), &values[1], 1, gate.ptr(), event.out()));
  EXPECT_CL(::clReleaseEvent(event.release_ownership()));
  gate.open();
  EXPECT_EQ(2, read<int>(mem, 1).front());
}

TEST_F(clReleaseEvent, GivenManyEventsInReverseOrderThenAllAreReleased) {
  std::vector<Event> events(100);
  for (size_t i = 0; i < events.size(); ++i) {
    const cl_uint waits = i == 0 ? 0 : 1;
    ASSERT_CL(
        clEnqueueMarkerWithWaitList(queue, waits, waits ? events[i - 1].ptr() : nullptr, events[i].out()));
  }
  while (!events.empty()) {
    EXPECT_CL(::clReleaseEvent(events.back().release_ownership()));
    events.pop_back();
  }
  EXPECT_CL(clFinish(queue));
}

TEST_F(clReleaseEvent, GivenNullThenInvalidEvent) {
  EXPECT_EQ(CL_INVALID_EVENT, ::clReleaseEvent(nullptr));
}

}  // namespace clique::test::suite_clReleaseEvent
