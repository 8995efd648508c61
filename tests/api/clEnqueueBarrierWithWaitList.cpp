// clEnqueueBarrierWithWaitList: OpenCL 3.0, section 5.12.
#include "checks.hpp"

namespace clique::test::suite_clEnqueueBarrierWithWaitList {

class clEnqueueBarrierWithWaitList : public ApiTest {};

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

TEST_F(clEnqueueBarrierWithWaitList, GivenOutOfOrderQueueAndMarkersWithListsThenItWaitsForThem) {
  const Queue any_order = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const int value = 2;
  const Mem mem = buffer<int>(1);
  const Mem other = buffer<int>(1);
  Gate gate(context);
  const Event marker = enqueue_blocked_marker(any_order, gate);
  Event second;
  ASSERT_CL(::clEnqueueBarrierWithWaitList(any_order, 0, nullptr, nullptr));
  ASSERT_CL(
      clEnqueueWriteBuffer(any_order, mem, CL_FALSE, 0, sizeof value, &value, 0, nullptr, second.out()));
  ASSERT_CL(clFlush(any_order));
  // Work in another queue gives a write that does not wait the time to complete too early.
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
  const Event marker = enqueue_blocked_marker(any_order, done);
  ASSERT_CL(clFlush(any_order));
  const Mem mem = buffer<int>(1);
  for (int i = 0; i < 100; ++i) read<int>(mem, 1);
  EXPECT_GT(status_of(marker), CL_COMPLETE);
  gate.open();
  ASSERT_CL(clWaitForEvents(1, marker.ptr()));
}

TEST_F(clEnqueueBarrierWithWaitList, GivenCallThenRulesOfEveryEnqueueHold) {
  expect_enqueue_rules(context, device, CL_COMMAND_BARRIER, ::clEnqueueBarrierWithWaitList, CL_SUCCESS);
}

TEST_F(clEnqueueBarrierWithWaitList, GivenCallThenRulesOfSynchronizationHold) {
  expect_synchronization_rules(context, ::clEnqueueBarrierWithWaitList);
}

}  // namespace clique::test::suite_clEnqueueBarrierWithWaitList
