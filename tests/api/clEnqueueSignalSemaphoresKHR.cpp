// clEnqueueSignalSemaphoresKHR: cl_khr_semaphore 1.0.1.
#include "semaphores.hpp"

namespace clique::test::suite_clEnqueueSignalSemaphoresKHR {

class clEnqueueSignalSemaphoresKHR : public SemaphoreTest {};

TEST_F(clEnqueueSignalSemaphoresKHR, GivenCallThenRulesOfEveryEnqueueHold) {
  const Semaphore semaphore = make_semaphore();
  const auto enqueue = [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
    return call.signal(on, 1, semaphore.ptr(), nullptr, count, list, event);
  };
  expect_enqueue_rules(context, device, CL_COMMAND_SEMAPHORE_SIGNAL_KHR, enqueue);
  expect_failed_event_ends_command(context, device, enqueue);
}

TEST_F(clEnqueueSignalSemaphoresKHR, GivenWrongArgumentsThenErrors) {
  expect_semaphore_rules(call.signal);
}

TEST_F(clEnqueueSignalSemaphoresKHR, GivenQueueOfAnotherDeviceThenInvalidCommandQueue) {
  expect_device_rules(call.signal);
}

TEST_F(clEnqueueSignalSemaphoresKHR, GivenSeveralSemaphoresThenEachIsSignaled) {
  const Semaphore first = make_semaphore();
  const Semaphore second = make_semaphore();
  const cl_semaphore_khr both[] = {first, second};
  // Binary semaphores have no payloads to be set.
  const cl_semaphore_payload_khr payloads[] = {7, 0};
  ASSERT_CL(call.signal(queue, 2, both, payloads, 0, nullptr, nullptr));
  ASSERT_CL(clFinish(queue));
  EXPECT_EQ(1U, payload(first));
  EXPECT_EQ(1U, payload(second));
  ASSERT_CL(wait(queue, second));
  EXPECT_EQ(1U, payload(first));
  EXPECT_EQ(0U, payload(second));
  ASSERT_CL(wait(queue, first));
  EXPECT_CL(clFinish(queue));
}

TEST_F(clEnqueueSignalSemaphoresKHR, GivenOutOfOrderQueueThenItDoesNotFollowEarlierCommands) {
  const Queue any_order = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const Semaphore semaphore = make_semaphore();
  Gate gate(context);
  const Event earlier = enqueue_blocked_marker(any_order, gate);
  Event signaled;
  ASSERT_CL(signal(any_order, semaphore, {}, signaled.out()));
  EXPECT_CL(finished(signaled));
  EXPECT_EQ(1U, payload(semaphore));
  EXPECT_GT(status_of(earlier), CL_COMPLETE);
}

TEST_F(clEnqueueSignalSemaphoresKHR, GivenInOrderQueueThenItFollowsEarlierCommands) {
  const Semaphore semaphore = make_semaphore();
  Gate gate(context);
  const Event earlier = enqueue_blocked_marker(queue, gate);
  Event signaled;
  ASSERT_CL(signal(queue, semaphore, {}, signaled.out()));
  ASSERT_CL(clFlush(queue));
  EXPECT_GT(status_of(signaled), CL_RUNNING);
  EXPECT_EQ(0U, payload(semaphore));
  gate.open();
  EXPECT_CL(finished(signaled));
  EXPECT_EQ(1U, payload(semaphore));
}

TEST_F(clEnqueueSignalSemaphoresKHR, GivenQueueWithProfilingThenItHasTimes) {
  const Semaphore semaphore = make_semaphore();
  Event signaled;
  ASSERT_CL(signal(queue, semaphore, {}, signaled.out()));
  ASSERT_CL(finished(signaled));
  const auto start = info<cl_ulong>(clGetEventProfilingInfo, signaled.get(), CL_PROFILING_COMMAND_START);
  EXPECT_GE(info<cl_ulong>(clGetEventProfilingInfo, signaled.get(), CL_PROFILING_COMMAND_END), start);
  EXPECT_GT(start, 0U);
}

TEST_F(clEnqueueSignalSemaphoresKHR, GivenSignalThatFailsThenSemaphoreIsNotSignaledAndCanBeSignaledAgain) {
  const Semaphore semaphore = make_semaphore();
  Gate gate(context);
  Event failed;
  ASSERT_CL(signal(queue, semaphore, {gate}, failed.out()));
  gate.fail();
  EXPECT_EQ(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, finished(failed));
  EXPECT_EQ(0U, payload(semaphore));
  const Queue other = make_queue();
  Event waited;
  ASSERT_CL(signal(other, semaphore));
  ASSERT_CL(wait(other, semaphore, {}, waited.out()));
  EXPECT_CL(finished(waited));
}

TEST_F(clEnqueueSignalSemaphoresKHR, GivenSignalsUnderWayWithoutWaitBetweenThemThenEachIsForOneWait) {
  const Queue any_order = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const Semaphore semaphore = make_semaphore();
  Gate first(context);
  Gate second(context);
  Event waited_first;
  Event waited_second;
  ASSERT_CL(signal(any_order, semaphore, {first}));
  ASSERT_CL(signal(any_order, semaphore, {second}));
  ASSERT_CL(wait(any_order, semaphore, {}, waited_first.out()));
  ASSERT_CL(wait(any_order, semaphore, {}, waited_second.out()));
  second.open();
  EXPECT_CL(finished(waited_second));
  EXPECT_GT(status_of(waited_first), CL_COMPLETE);
  first.open();
  EXPECT_CL(finished(waited_first));
  EXPECT_EQ(0U, payload(semaphore));
}

TEST_F(clEnqueueSignalSemaphoresKHR, GivenSignalsOfWhichOneHasCompletedThenTheNextWaitTakesThat) {
  const Queue any_order = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const Semaphore semaphore = make_semaphore();
  Gate gate(context);
  Event signaled;
  ASSERT_CL(signal(any_order, semaphore, {gate}));
  ASSERT_CL(signal(any_order, semaphore, {}, signaled.out()));
  ASSERT_CL(finished(signaled));
  EXPECT_EQ(1U, payload(semaphore));
  Event waited;
  ASSERT_CL(wait(any_order, semaphore, {}, waited.out()));
  EXPECT_CL(finished(waited));
  EXPECT_EQ(0U, payload(semaphore));
  Event rest;
  ASSERT_CL(wait(any_order, semaphore, {}, rest.out()));
  gate.open();
  EXPECT_CL(finished(rest));
}

TEST_F(clEnqueueSignalSemaphoresKHR, GivenSignalsThatHaveCompletedWithoutWaitBetweenThemThenOneCounts) {
  const Semaphore semaphore = make_semaphore();
  for (int i = 0; i < 3; ++i) {
    ASSERT_CL(signal(queue, semaphore));
    ASSERT_CL(clFinish(queue));
    EXPECT_EQ(1U, payload(semaphore));
  }
  const Queue any_order = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  Event first;
  Event second;
  ASSERT_CL(wait(any_order, semaphore, {}, first.out()));
  EXPECT_CL(finished(first));
  ASSERT_CL(wait(any_order, semaphore, {}, second.out()));
  EXPECT_CL(clFlush(any_order));
  EXPECT_GT(status_of(second), CL_RUNNING);
  ASSERT_CL(signal(queue, semaphore));
  EXPECT_CL(finished(second));
}

}  // namespace clique::test::suite_clEnqueueSignalSemaphoresKHR
