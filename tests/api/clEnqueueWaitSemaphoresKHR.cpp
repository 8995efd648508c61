// clEnqueueWaitSemaphoresKHR: cl_khr_semaphore 1.0.1.
#include "semaphores.hpp"

namespace clique::test::suite_clEnqueueWaitSemaphoresKHR {

class clEnqueueWaitSemaphoresKHR : public SemaphoreTest {
 protected:
  /// Waits for the event, which has to fail.
  static void expect_failed(const Event& event) {
    EXPECT_EQ(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, finished(event));
    EXPECT_LT(status_of(event), 0);
  }
};

TEST_F(clEnqueueWaitSemaphoresKHR, GivenCallThenRulesOfEveryEnqueueHold) {
  const Semaphore semaphore = make_semaphore();
  const auto enqueue = [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
    EXPECT_CL(signal(queue, semaphore));
    return call.wait(on, 1, semaphore.ptr(), nullptr, count, list, event);
  };
  expect_enqueue_rules(context, device, CL_COMMAND_SEMAPHORE_WAIT_KHR, enqueue);
  expect_failed_event_ends_command(context, device, enqueue);
}

TEST_F(clEnqueueWaitSemaphoresKHR, GivenWrongArgumentsThenErrors) {
  expect_semaphore_rules(call.wait);
}

TEST_F(clEnqueueWaitSemaphoresKHR, GivenQueueOfAnotherDeviceThenInvalidCommandQueue) {
  expect_device_rules(call.wait);
}

TEST_F(clEnqueueWaitSemaphoresKHR, GivenWrongArgumentsThenSignalIsNotTaken) {
  const Semaphore semaphore = make_semaphore();
  ASSERT_CL(signal(queue, semaphore));
  ASSERT_CL(clFinish(queue));
  const cl_semaphore_khr list[] = {semaphore, nullptr};
  EXPECT_EQ(CL_INVALID_SEMAPHORE_KHR, call.wait(queue, 2, list, nullptr, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_EVENT_WAIT_LIST, call.wait(queue, 1, list, nullptr, 1, nullptr, nullptr));
  EXPECT_EQ(1U, payload(semaphore));
}

TEST_F(clEnqueueWaitSemaphoresKHR, GivenSignalInAnotherQueueThenLaterCommandsSeeWhatWasWrittenBeforeIt) {
  const Queue producer = make_queue();
  const Semaphore semaphore = make_semaphore();
  const std::vector<int> values(1000, 42);
  const Mem mem = buffer<int>(values.size());
  Gate gate(context);
  Event written;
  Event waited;
  ASSERT_CL(clEnqueueWriteBuffer(producer, mem, CL_FALSE, 0, values.size() * sizeof(int), values.data(), 1,
                                 gate.ptr(), written.out()));
  ASSERT_CL(signal(producer, semaphore));
  ASSERT_CL(clFlush(producer));
  ASSERT_CL(wait(queue, semaphore, {}, waited.out()));
  ASSERT_CL(clFlush(queue));
  EXPECT_GT(status_of(waited), CL_RUNNING);
  gate.open();
  EXPECT_EQ(values, read<int>(mem, values.size()));
  EXPECT_EQ(CL_COMPLETE, status_of(written));
}

TEST_F(clEnqueueWaitSemaphoresKHR, GivenCommandsOfOtherDevicesInWaitListsThenThoseAreFollowed) {
  std::vector<Queue> queues;
  std::vector<Event> events;
  std::vector<cl_event> handles;
  const Semaphore semaphore = make_semaphore();
  const Queue other = make_queue();
  Gate gate(context);
  for (const cl_device_id each : devices()) {
    queues.push_back(make_queue(0, each));
    events.push_back(enqueue_blocked_marker(queues.back(), gate));
    handles.push_back(events.back());
  }
  Event waited;
  ASSERT_CL(signal(queue, semaphore, handles));
  ASSERT_CL(wait(other, semaphore, {}, waited.out()));
  std::vector<Event> after;
  for (const Queue& each : queues) {
    Event event;
    ASSERT_CL(clEnqueueMarkerWithWaitList(each, 1, waited.ptr(), event.out()));
    ASSERT_CL(clFlush(each));
    EXPECT_GT(status_of(event), CL_RUNNING);
    after.push_back(std::move(event));
  }
  gate.open();
  for (const Event& event : after) EXPECT_CL(finished(event));
  for (const Event& event : events) EXPECT_EQ(CL_COMPLETE, status_of(event));
  EXPECT_EQ(CL_COMPLETE, status_of(waited));
}

TEST_F(clEnqueueWaitSemaphoresKHR, GivenTwoQueuesThatTakeTurnsThenTheirCommandsAreInOrder) {
  const Program program = build(
      "kernel void scale(global uint* x) { *x = *x * 3 + 1; }"
      "kernel void shift(global uint* x) { *x ^= *x >> 3; }");
  const Kernel scale = kernel(program, "scale");
  const Kernel shift = kernel(program, "shift");
  const Queue other = make_queue();
  const Semaphore there = make_semaphore();
  const Semaphore back = make_semaphore();
  cl_uint expected = 1;
  const Mem mem = buffer<cl_uint>(1, &expected);
  set_args(scale, mem);
  set_args(shift, mem);
  Gate gate(context);
  ASSERT_CL(signal(queue, back, {gate}));
  for (int i = 0; i < 50; ++i) {
    ASSERT_CL(wait(queue, back));
    ASSERT_CL(launch(queue, scale, 1));
    ASSERT_CL(signal(queue, there));
    ASSERT_CL(wait(other, there));
    ASSERT_CL(launch(other, shift, 1));
    ASSERT_CL(signal(other, back));
    expected = expected * 3 + 1;
    expected ^= expected >> 3;
  }
  ASSERT_CL(wait(queue, back));
  ASSERT_CL(clFlush(other));
  gate.open();
  EXPECT_EQ(expected, read<cl_uint>(mem, 1).front());
}

TEST_F(clEnqueueWaitSemaphoresKHR, GivenOutOfOrderQueueThenOnlyWhatFollowsItsEventWaits) {
  const Queue any_order = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const Semaphore semaphore = make_semaphore();
  Gate gate(context);
  Event waited;
  ASSERT_CL(signal(any_order, semaphore, {gate}));
  ASSERT_CL(wait(any_order, semaphore, {}, waited.out()));
  const int value = 5;
  const Mem mem = buffer<int>(1);
  ASSERT_CL(clEnqueueWriteBuffer(any_order, mem, CL_TRUE, 0, sizeof value, &value, 0, nullptr, nullptr));
  const Event after = enqueue_blocked_marker(any_order, waited);
  Event barrier;
  ASSERT_CL(clEnqueueBarrierWithWaitList(any_order, 0, nullptr, barrier.out()));
  ASSERT_CL(clFlush(any_order));
  EXPECT_GT(status_of(waited), CL_RUNNING);
  EXPECT_GT(status_of(after), CL_RUNNING);
  EXPECT_GT(status_of(barrier), CL_RUNNING);
  gate.open();
  EXPECT_CL(finished(barrier));
  EXPECT_EQ(CL_COMPLETE, status_of(waited));
  EXPECT_EQ(CL_COMPLETE, status_of(after));
}

TEST_F(clEnqueueWaitSemaphoresKHR, GivenSeveralSemaphoresThenAllHaveToBeSignaled) {
  const Queue other = make_queue();
  const Semaphore first = make_semaphore();
  const Semaphore second = make_semaphore();
  Gate gate(context);
  ASSERT_CL(signal(other, first));
  ASSERT_CL(signal(other, second, {gate}));
  const cl_semaphore_khr both[] = {first, second};
  const cl_semaphore_payload_khr payloads[] = {3, 4};
  Event waited;
  ASSERT_CL(call.wait(queue, 2, both, payloads, 0, nullptr, waited.out()));
  ASSERT_CL(clFlush(queue));
  EXPECT_GT(status_of(waited), CL_RUNNING);
  gate.open();
  EXPECT_CL(finished(waited));
  EXPECT_EQ(0U, payload(first));
  EXPECT_EQ(0U, payload(second));
}

TEST_F(clEnqueueWaitSemaphoresKHR, GivenSemaphoreTwiceInListThenOneSignalIsEnough) {
  const Semaphore semaphore = make_semaphore();
  const cl_semaphore_khr twice[] = {semaphore, semaphore};
  Event waited;
  ASSERT_CL(call.signal(queue, 2, twice, nullptr, 0, nullptr, nullptr));
  ASSERT_CL(call.wait(queue, 2, twice, nullptr, 0, nullptr, waited.out()));
  EXPECT_CL(finished(waited));
  EXPECT_EQ(0U, payload(semaphore));
}

TEST_F(clEnqueueWaitSemaphoresKHR, GivenWaitBeforeItsSignalThenItCompletesAfterTheSignal) {
  const Queue consumer = make_queue();
  const Semaphore semaphore = make_semaphore();
  const int values[] = {1, 2};
  const Mem mem = buffer<int>(1, &values[0]);
  const Mem copy = buffer<int>(1, &values[0]);
  Event waited;
  ASSERT_CL(wait(consumer, semaphore, {}, waited.out()));
  ASSERT_CL(clFlush(consumer));
  EXPECT_GT(status_of(waited), CL_RUNNING);
  ASSERT_CL(clEnqueueWriteBuffer(queue, mem, CL_FALSE, 0, sizeof(int), &values[1], 0, nullptr, nullptr));
  ASSERT_CL(signal(queue, semaphore));
  EXPECT_EQ(0U, payload(semaphore));
  ASSERT_CL(clEnqueueCopyBuffer(consumer, mem, copy, 0, 0, sizeof(int), 0, nullptr, nullptr));
  ASSERT_CL(clFlush(queue));
  ASSERT_CL(clFinish(consumer));
  EXPECT_EQ(CL_COMPLETE, status_of(waited));
  EXPECT_EQ(2, read<int>(copy, 1).front());
  EXPECT_EQ(0U, payload(semaphore));
}

TEST_F(clEnqueueWaitSemaphoresKHR, GivenWaitBeforeItsSignalThenAnotherThreadCanSignalWhileOneFinishes) {
  const Queue consumer = make_queue();
  const Semaphore semaphore = make_semaphore();
  for (int i = 0; i < 20; ++i) {
    Event waited;
    ASSERT_CL(wait(consumer, semaphore, {}, waited.out()));
    std::thread finisher([&] { EXPECT_CL(clFinish(consumer)); });
    EXPECT_CL(signal(queue, semaphore));
    EXPECT_CL(clFlush(queue));
    finisher.join();
    EXPECT_EQ(CL_COMPLETE, status_of(waited));
  }
}

TEST_F(clEnqueueWaitSemaphoresKHR, GivenSeveralWaitsBeforeTheirSignalsThenEachSignalLetsTheOldestThrough) {
  const Queue any_order = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const Semaphore semaphore = make_semaphore();
  Event first;
  Event second;
  ASSERT_CL(wait(any_order, semaphore, {}, first.out()));
  ASSERT_CL(wait(any_order, semaphore, {}, second.out()));
  ASSERT_CL(signal(queue, semaphore));
  EXPECT_CL(finished(first));
  EXPECT_GT(status_of(second), CL_COMPLETE);
  ASSERT_CL(signal(queue, semaphore));
  EXPECT_CL(finished(second));
  ASSERT_CL(signal(queue, semaphore));
  ASSERT_CL(clFinish(queue));
  EXPECT_EQ(1U, payload(semaphore));
}

TEST_F(clEnqueueWaitSemaphoresKHR, GivenSignalThatFailsThenItFails) {
  const Queue other = make_queue();
  const Semaphore semaphore = make_semaphore();
  Gate gate(context);
  Event waited;
  ASSERT_CL(signal(queue, semaphore, {gate}));
  ASSERT_CL(wait(other, semaphore, {}, waited.out()));
  gate.fail();
  expect_failed(waited);
}

TEST_F(clEnqueueWaitSemaphoresKHR, GivenSignalThatHasFailedThenItFails) {
  const Queue other = make_queue();
  const Semaphore semaphore = make_semaphore();
  Gate gate(context);
  Event failed;
  Event waited;
  ASSERT_CL(signal(queue, semaphore, {gate}, failed.out()));
  gate.fail();
  expect_failed(failed);
  ASSERT_CL(wait(other, semaphore, {}, waited.out()));
  expect_failed(waited);
}

TEST_F(clEnqueueWaitSemaphoresKHR, GivenWaitBeforeASignalThatFailsThenItFails) {
  const Queue other = make_queue();
  const Semaphore semaphore = make_semaphore();
  Gate gate(context);
  Event waited;
  ASSERT_CL(wait(other, semaphore, {}, waited.out()));
  ASSERT_CL(signal(queue, semaphore, {gate}));
  gate.fail();
  expect_failed(waited);
}

TEST_F(clEnqueueWaitSemaphoresKHR, GivenWaitListThatFailsThenItFailsAndHasTakenTheSignal) {
  const Semaphore semaphore = make_semaphore();
  ASSERT_CL(signal(queue, semaphore));
  ASSERT_CL(clFinish(queue));
  Gate gate(context);
  Event waited;
  ASSERT_CL(wait(queue, semaphore, {gate}, waited.out()));
  gate.fail();
  expect_failed(waited);
  EXPECT_EQ(0U, payload(semaphore));
}

}  // namespace clique::test::suite_clEnqueueWaitSemaphoresKHR
