// clEnqueueMarkerWithWaitList: OpenCL 3.0, section 5.12.
#include "helpers.hpp"

namespace clique::test {

class clEnqueueMarkerWithWaitList : public ApiTest {
 protected:
  /// A command that does nothing but wait.
  static Event blocked(cl_command_queue on, cl_event gate) {
    Event event;
    EXPECT_CL(::clEnqueueMarkerWithWaitList(on, 1, &gate, event.out()));
    return event;
  }
};

TEST_F(clEnqueueMarkerWithWaitList, GivenOutOfOrderQueueThenCommandsWithoutWorkDoNotWaitForOthers) {
  const Queue any_order = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const int value = 1;
  const Mem mem = buffer<int>(1);
  const Mem other = buffer<int>(1);
  Gate gate(context);
  ASSERT_CL(clEnqueueWriteBuffer(any_order, mem, CL_FALSE, 0, sizeof value, &value, 1, gate.ptr(), nullptr));
  Event marker;
  ASSERT_CL(::clEnqueueMarkerWithWaitList(any_order, 0, nullptr, marker.out()));
  ASSERT_CL(clEnqueueWriteBuffer(any_order, other, CL_TRUE, 0, sizeof value, &value, 0, nullptr, nullptr));
  // Commands without work are no markers.
  cl_mem migrated = other;
  Event event;
  ASSERT_CL(clEnqueueMigrateMemObjects(any_order, 1, &migrated, 0, 0, nullptr, event.out()));
  ASSERT_CL(clWaitForEvents(1, event.ptr()));
  cl_int err = CL_SUCCESS;
  void* mapped = clEnqueueMapBuffer(any_order, other, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0,
                                    sizeof value, 0, nullptr, nullptr, &err);
  ASSERT_EQ(CL_SUCCESS, err);
  ASSERT_CL(clEnqueueUnmapMemObject(any_order, other, mapped, 0, nullptr, event.out()));
  ASSERT_CL(clWaitForEvents(1, event.ptr()));
  EXPECT_GT(status_of(marker), CL_COMPLETE);
}

TEST_F(clEnqueueMarkerWithWaitList, GivenOutOfOrderQueueAndNoListThenItCompletesAfterAllEarlierCommands) {
  const Queue any_order = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  Gate gate(context);
  const Event first = blocked(any_order, gate);
  const Event second = blocked(any_order, gate);
  Event marker;
  ASSERT_CL(::clEnqueueMarkerWithWaitList(any_order, 0, nullptr, marker.out()));
  ASSERT_CL(clFlush(any_order));
  EXPECT_GT(status_of(marker), CL_RUNNING);
  gate.open();
  ASSERT_CL(clWaitForEvents(1, marker.ptr()));
  EXPECT_EQ(CL_COMPLETE, status_of(first));
  EXPECT_EQ(CL_COMPLETE, status_of(second));
}

TEST_F(clEnqueueMarkerWithWaitList, GivenOutOfOrderQueueThenLaterCommandsDoNotWaitForIt) {
  const Queue any_order = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const int values[] = {1, 2};
  const Mem mem = buffer<int>(1, &values[0]);
  Gate gate(context);
  Event marker;
  Event written;
  ASSERT_CL(::clEnqueueMarkerWithWaitList(any_order, 1, gate.ptr(), marker.out()));
  ASSERT_CL(
      clEnqueueWriteBuffer(any_order, mem, CL_FALSE, 0, sizeof(int), &values[1], 0, nullptr, written.out()));
  EXPECT_CL(clWaitForEvents(1, written.ptr()));
  EXPECT_GT(status_of(marker), CL_RUNNING);
}

TEST_F(clEnqueueMarkerWithWaitList, GivenEventThenItDescribesTheCommand) {
  Event event;
  ASSERT_CL(::clEnqueueMarkerWithWaitList(queue, 0, nullptr, event.out()));
  EXPECT_EQ(cl_command_type{CL_COMMAND_MARKER},
            info<cl_command_type>(clGetEventInfo, event.get(), CL_EVENT_COMMAND_TYPE));
  EXPECT_EQ(queue.get(), info<cl_command_queue>(clGetEventInfo, event.get(), CL_EVENT_COMMAND_QUEUE));
  ASSERT_CL(clFinish(queue));
  EXPECT_EQ(CL_COMPLETE, status_of(event));
}

TEST_F(clEnqueueMarkerWithWaitList, GivenNoEventPointerThenSucceeds) {
  EXPECT_CL(::clEnqueueMarkerWithWaitList(queue, 0, nullptr, nullptr));
  EXPECT_CL(clFinish(queue));
}

TEST_F(clEnqueueMarkerWithWaitList, GivenInOrderQueueThenItCompletesAfterEarlierCommands) {
  Gate gate(context);
  const Event earlier = blocked(queue, gate);
  Event event;
  ASSERT_CL(::clEnqueueMarkerWithWaitList(queue, 0, nullptr, event.out()));
  ASSERT_CL(clFlush(queue));
  EXPECT_GT(status_of(event), CL_RUNNING);
  gate.open();
  ASSERT_CL(clWaitForEvents(1, event.ptr()));
  EXPECT_EQ(CL_COMPLETE, status_of(earlier));
}

TEST_F(clEnqueueMarkerWithWaitList, GivenEventsOfAllDevicesThenItCompletesAfterThem) {
  std::vector<Queue> queues;
  std::vector<Event> events;
  std::vector<cl_event> handles;
  Gate gate(context);
  for (cl_device_id one : devices()) {
    queues.push_back(make_queue(0, one));
    events.push_back(blocked(queues.back(), gate));
    handles.push_back(events.back());
    ASSERT_CL(clFlush(queues.back()));
  }
  Event event;
  ASSERT_CL(::clEnqueueMarkerWithWaitList(queue, static_cast<cl_uint>(handles.size()), handles.data(),
                                          event.out()));
  ASSERT_CL(clFlush(queue));
  EXPECT_GT(status_of(event), CL_RUNNING);
  gate.open();
  ASSERT_CL(clWaitForEvents(1, event.ptr()));
  for (const Event& one : events) EXPECT_EQ(CL_COMPLETE, status_of(one));
}

TEST_F(clEnqueueMarkerWithWaitList, GivenFailedEventThenItFails) {
  const Queue any_order = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  Gate gate(context);
  Event event;
  ASSERT_CL(::clEnqueueMarkerWithWaitList(any_order, 1, gate.ptr(), event.out()));
  gate.fail();
  EXPECT_EQ(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, event.ptr()));
  EXPECT_LT(status_of(event), 0);
}

TEST_F(clEnqueueMarkerWithWaitList, GivenWaitListAndCountThatDisagreeThenInvalidEventWaitList) {
  const Event user = user_event();
  ASSERT_CL(clSetUserEventStatus(user, CL_COMPLETE));
  const cl_event with_foreign[] = {user, foreign_handle<cl_event>()};
  const cl_event with_null[] = {user, nullptr};
  EXPECT_EQ(CL_INVALID_EVENT_WAIT_LIST, ::clEnqueueMarkerWithWaitList(queue, 1, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_EVENT_WAIT_LIST, ::clEnqueueMarkerWithWaitList(queue, 0, user.ptr(), nullptr));
  EXPECT_EQ(CL_INVALID_EVENT_WAIT_LIST, ::clEnqueueMarkerWithWaitList(queue, 2, with_null, nullptr));
  EXPECT_EQ(CL_INVALID_EVENT_WAIT_LIST, ::clEnqueueMarkerWithWaitList(queue, 2, with_foreign, nullptr));
}

TEST_F(clEnqueueMarkerWithWaitList, GivenEventOfAnotherContextThenInvalidContext) {
  const OtherContext other;
  EXPECT_EQ(CL_INVALID_CONTEXT, ::clEnqueueMarkerWithWaitList(queue, 1, other.event.ptr(), nullptr));
}

TEST_F(clEnqueueMarkerWithWaitList, GivenNullQueueThenInvalidCommandQueue) {
  EXPECT_EQ(CL_INVALID_COMMAND_QUEUE, ::clEnqueueMarkerWithWaitList(nullptr, 0, nullptr, nullptr));
}

}  // namespace clique::test
