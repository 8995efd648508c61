// clEnqueueMarkerWithWaitList: OpenCL 3.0, section 5.12.
#include "checks.hpp"

namespace clique::test::suite_clEnqueueMarkerWithWaitList {

class clEnqueueMarkerWithWaitList : public ApiTest {};

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
  // Migrating and unmapping here need no work of the device, but they still do not wait as markers do.
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
  const Event first = enqueue_blocked_marker(any_order, gate);
  const Event second = enqueue_blocked_marker(any_order, gate);
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

TEST_F(clEnqueueMarkerWithWaitList, GivenCallThenRulesOfEveryEnqueueHold) {
  expect_enqueue_rules(context, device, CL_COMMAND_MARKER, ::clEnqueueMarkerWithWaitList, CL_SUCCESS);
}

TEST_F(clEnqueueMarkerWithWaitList, GivenCallThenRulesOfSynchronizationHold) {
  expect_synchronization_rules(context, ::clEnqueueMarkerWithWaitList);
}

}  // namespace clique::test::suite_clEnqueueMarkerWithWaitList
