// clEnqueueBarrierWithWaitList: OpenCL 3.0, section 5.12.
#include "helpers.hpp"

namespace clique::test {

class clEnqueueBarrierWithWaitList : public ApiTest {
 protected:
  /// A command that does nothing but wait.
  static Event blocked(cl_command_queue on, cl_event gate) {
    Event event;
    EXPECT_CL(clEnqueueMarkerWithWaitList(on, 1, &gate, event.out()));
    return event;
  }
};

TEST_F(clEnqueueBarrierWithWaitList, GivenOutOfOrderQueueAndNoListThenLaterCommandsWaitForEarlierOnes) {
  const Queue any_order = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const int values[] = {1, 2, 3};
  const Mem mem = buffer<int>(1, &values[0]);
  Gate gate(context);
  Event barrier;
  Event second;
  ASSERT_CL(
      clEnqueueWriteBuffer(any_order, mem, CL_FALSE, 0, sizeof(int), &values[1], 1, gate.ptr(), nullptr));
  ASSERT_CL(::clEnqueueBarrierWithWaitList(any_order, 0, nullptr, barrier.out()));
  ASSERT_CL(
      clEnqueueWriteBuffer(any_order, mem, CL_FALSE, 0, sizeof(int), &values[2], 0, nullptr, second.out()));
  ASSERT_CL(clFlush(any_order));
  EXPECT_GT(status_of(barrier), CL_RUNNING);
  EXPECT_GT(status_of(second), CL_RUNNING);
  gate.open();
  ASSERT_CL(clFinish(any_order));
  EXPECT_EQ(3, read<int>(mem, 1).front());
}

TEST_F(clEnqueueBarrierWithWaitList, GivenOutOfOrderQueueAndListThenLaterCommandsWaitForTheList) {
  const Queue any_order = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const int values[] = {1, 2};
  const Mem mem = buffer<int>(1, &values[0]);
  Gate gate(context);
  Event written;
  ASSERT_CL(::clEnqueueBarrierWithWaitList(any_order, 1, gate.ptr(), nullptr));
  ASSERT_CL(
      clEnqueueWriteBuffer(any_order, mem, CL_FALSE, 0, sizeof(int), &values[1], 0, nullptr, written.out()));
  ASSERT_CL(clFlush(any_order));
  EXPECT_GT(status_of(written), CL_RUNNING);
  gate.open();
  ASSERT_CL(clFinish(any_order));
  EXPECT_EQ(2, read<int>(mem, 1).front());
}

TEST_F(clEnqueueBarrierWithWaitList, GivenSeveralBarriersThenStepsRunInOrder) {
  const Queue any_order = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const Program program =
      build("kernel void append(global int* list, int value) { list[++list[0]] = value; }");
  const Kernel append = kernel(program, "append");
  const int zeros[17] = {};
  const Mem list = buffer<int>(17, zeros);
  std::vector<int> expected = {16};
  for (int i = 0; i < 16; ++i) {
    set_args(append, list, i);
    ASSERT_CL(launch(any_order, append, 1));
    ASSERT_CL(::clEnqueueBarrierWithWaitList(any_order, 0, nullptr, nullptr));
    expected.push_back(i);
  }
  ASSERT_CL(clFinish(any_order));
  EXPECT_EQ(expected, read<int>(list, 17));
}

TEST_F(clEnqueueBarrierWithWaitList, GivenEventThenItDescribesTheCommand) {
  Event event;
  ASSERT_CL(::clEnqueueBarrierWithWaitList(queue, 0, nullptr, event.out()));
  EXPECT_EQ(cl_command_type{CL_COMMAND_BARRIER},
            info<cl_command_type>(clGetEventInfo, event.get(), CL_EVENT_COMMAND_TYPE));
  EXPECT_EQ(queue.get(), info<cl_command_queue>(clGetEventInfo, event.get(), CL_EVENT_COMMAND_QUEUE));
  ASSERT_CL(clFinish(queue));
  EXPECT_EQ(CL_COMPLETE, status_of(event));
}

TEST_F(clEnqueueBarrierWithWaitList, GivenNoEventPointerThenSucceeds) {
  EXPECT_CL(::clEnqueueBarrierWithWaitList(queue, 0, nullptr, nullptr));
  EXPECT_CL(clFinish(queue));
}

TEST_F(clEnqueueBarrierWithWaitList, GivenInOrderQueueThenItCompletesAfterEarlierCommands) {
  Gate gate(context);
  const Event earlier = blocked(queue, gate);
  Event event;
  ASSERT_CL(::clEnqueueBarrierWithWaitList(queue, 0, nullptr, event.out()));
  ASSERT_CL(clFlush(queue));
  EXPECT_GT(status_of(event), CL_RUNNING);
  gate.open();
  ASSERT_CL(clWaitForEvents(1, event.ptr()));
  EXPECT_EQ(CL_COMPLETE, status_of(earlier));
}

TEST_F(clEnqueueBarrierWithWaitList, GivenOutOfOrderQueueAndMarkersWithListsThenItWaitsForThem) {
  const Queue any_order = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const int value = 2;
  const Mem mem = buffer<int>(1);
  const Mem other = buffer<int>(1);
  Gate gate(context);
  const Event marker = blocked(any_order, gate);
  Event second;
  ASSERT_CL(::clEnqueueBarrierWithWaitList(any_order, 0, nullptr, nullptr));
  ASSERT_CL(
      clEnqueueWriteBuffer(any_order, mem, CL_FALSE, 0, sizeof value, &value, 0, nullptr, second.out()));
  ASSERT_CL(clFlush(any_order));
  // What another queue does meanwhile gives the write time to go wrong.
  for (int i = 0; i < 100; ++i) read<int>(other, 1);
  EXPECT_GT(status_of(second), CL_COMPLETE);
  gate.open();
  ASSERT_CL(clWaitForEvents(1, second.ptr()));
  EXPECT_EQ(CL_COMPLETE, status_of(marker));
}

TEST_F(clEnqueueBarrierWithWaitList, GivenOutOfOrderQueueThenMarkersWithListsWaitForIt) {
  const Queue any_order = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  Gate gate(context);
  const Event done = user_event();
  ASSERT_CL(clSetUserEventStatus(done, CL_COMPLETE));
  ASSERT_CL(::clEnqueueBarrierWithWaitList(any_order, 1, gate.ptr(), nullptr));
  const Event marker = blocked(any_order, done);
  ASSERT_CL(clFlush(any_order));
  const Mem mem = buffer<int>(1);
  for (int i = 0; i < 100; ++i) read<int>(mem, 1);
  EXPECT_GT(status_of(marker), CL_COMPLETE);
  gate.open();
  ASSERT_CL(clWaitForEvents(1, marker.ptr()));
}

TEST_F(clEnqueueBarrierWithWaitList, GivenEventsOfAllDevicesThenItCompletesAfterThem) {
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
  ASSERT_CL(::clEnqueueBarrierWithWaitList(queue, static_cast<cl_uint>(handles.size()), handles.data(),
                                           event.out()));
  ASSERT_CL(clFlush(queue));
  EXPECT_GT(status_of(event), CL_RUNNING);
  gate.open();
  ASSERT_CL(clWaitForEvents(1, event.ptr()));
  for (const Event& one : events) EXPECT_EQ(CL_COMPLETE, status_of(one));
}

TEST_F(clEnqueueBarrierWithWaitList, GivenFailedEventThenItFails) {
  const Queue any_order = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  Gate gate(context);
  Event event;
  ASSERT_CL(::clEnqueueBarrierWithWaitList(any_order, 1, gate.ptr(), event.out()));
  gate.fail();
  EXPECT_EQ(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, event.ptr()));
  EXPECT_LT(status_of(event), 0);
}

TEST_F(clEnqueueBarrierWithWaitList, GivenWaitListAndCountThatDisagreeThenInvalidEventWaitList) {
  const Event user = user_event();
  ASSERT_CL(clSetUserEventStatus(user, CL_COMPLETE));
  const cl_event with_foreign[] = {user, foreign_handle<cl_event>()};
  const cl_event with_null[] = {user, nullptr};
  EXPECT_EQ(CL_INVALID_EVENT_WAIT_LIST, ::clEnqueueBarrierWithWaitList(queue, 1, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_EVENT_WAIT_LIST, ::clEnqueueBarrierWithWaitList(queue, 0, user.ptr(), nullptr));
  EXPECT_EQ(CL_INVALID_EVENT_WAIT_LIST, ::clEnqueueBarrierWithWaitList(queue, 2, with_null, nullptr));
  EXPECT_EQ(CL_INVALID_EVENT_WAIT_LIST, ::clEnqueueBarrierWithWaitList(queue, 2, with_foreign, nullptr));
}

TEST_F(clEnqueueBarrierWithWaitList, GivenEventOfAnotherContextThenInvalidContext) {
  const OtherContext other;
  EXPECT_EQ(CL_INVALID_CONTEXT, ::clEnqueueBarrierWithWaitList(queue, 1, other.event.ptr(), nullptr));
}

TEST_F(clEnqueueBarrierWithWaitList, GivenNullQueueThenInvalidCommandQueue) {
  EXPECT_EQ(CL_INVALID_COMMAND_QUEUE, ::clEnqueueBarrierWithWaitList(nullptr, 0, nullptr, nullptr));
}

}  // namespace clique::test
