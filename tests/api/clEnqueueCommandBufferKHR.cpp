// clEnqueueCommandBufferKHR: cl_khr_command_buffer 0.9.8.
#include "capture.hpp"
#include "command_buffers.hpp"

namespace clique::test::suite_clEnqueueCommandBufferKHR {

class clEnqueueCommandBufferKHR : public CommandBufferTest {
 protected:
  static constexpr size_t kCount = 1000;
  static constexpr const char* kSource = R"(
    kernel void twice(global const uint* from, global uint* to) {
      const size_t i = get_global_id(0);
      to[i] = 2 * from[i];
    }
    kernel void add(global uint* to, uint amount) { to[get_global_id(0)] += amount; }
    kernel void shout(uint number) { printf("number %u\n", number); }
  )";

  static constexpr const char* kSlowSource = R"(
    kernel void slow(global uint* data, uint amount) {
      uint value = data[get_global_id(0)];
      for (int n = 0; n < 3000; ++n) value = value % 1000003 * 3 + amount;
      data[get_global_id(0)] = value;
    }
    kernel void add(global uint* to, global const uint* from) {
      to[get_global_id(0)] += from[get_global_id(0)];
    }
    kernel void count(global uint* total) { atomic_inc((volatile global int*)total); }
  )";
  static cl_uint slow_result(cl_uint value, cl_uint amount) {
    for (int n = 0; n < 3000; ++n) value = value % 1000003 * 3 + amount;
    return value;
  }

  /// Returns a finalised command buffer that adds to the content of `target`.
  CommandBuffer adding(cl_mem target, cl_command_buffer_flags_khr flags = 0) {
    program = build(kSource);
    const Kernel add = kernel(program, "add");
    set_args(add, target, cl_uint{1});
    CommandBuffer made = record_on(queue, flags);
    EXPECT_CL(record_launch(made, add, kCount));
    EXPECT_CL(call.finalize(made));
    return made;
  }
  Program program;
};

TEST_F(clEnqueueCommandBufferKHR, GivenCommandsThenEachRunHasThemInOrder) {
  program = build(kSource);
  const std::vector<cl_uint> ones(kCount, 1);
  const Mem from = buffer<cl_uint>(kCount, ones.data());
  const Mem to = buffer<cl_uint>(kCount);
  const Kernel twice = kernel(program, "twice");
  set_args(twice, from, to);
  const CommandBuffer made = record_on(queue);
  ASSERT_CL(record_launch(made, twice, kCount));
  ASSERT_CL(call.copy_buffer(made, nullptr, to, from, 0, 0, kCount * sizeof(cl_uint), 0, nullptr, nullptr,
                             nullptr));
  ASSERT_CL(call.finalize(made));
  for (cl_uint expected : {2U, 4U, 8U}) {
    ASSERT_CL(call.enqueue(0, nullptr, made, 0, nullptr, nullptr));
    EXPECT_EQ(std::vector<cl_uint>(kCount, expected), read<cl_uint>(from, kCount));
  }
}

// A command buffer recorded on one node reads what another node writes.
TEST_F(clEnqueueCommandBufferKHR, GivenInputThatOtherDevicesChangeThenEachRunReadsTheLatest) {
  program = build(kSource);
  const Kernel twice = kernel(program, "twice");
  for (cl_device_id here : devices())
    for (cl_device_id there : devices()) {
      const Mem from = buffer<cl_uint>(kCount);
      const Mem to = buffer<cl_uint>(kCount);
      set_args(twice, from, to);
      const Queue runner = make_queue(0, here);
      const Queue writer = make_queue(0, there);
      const CommandBuffer made = record_on(runner);
      ASSERT_CL(record_launch(made, twice, kCount));
      ASSERT_CL(call.finalize(made));
      for (cl_uint round = 1; round <= 3; ++round) {
        const cl_uint pattern = 100 * round;
        Event written;
        Event ran;
        ASSERT_CL(clEnqueueFillBuffer(writer, from, &pattern, sizeof pattern, 0, kCount * sizeof pattern, 0,
                                      nullptr, written.out()));
        ASSERT_CL(call.enqueue(0, nullptr, made, 1, written.ptr(), ran.out()));
        std::vector<cl_uint> result(kCount);
        ASSERT_CL(clEnqueueReadBuffer(writer, to, CL_TRUE, 0, kCount * sizeof(cl_uint), result.data(), 1,
                                      ran.ptr(), nullptr));
        EXPECT_EQ(std::vector<cl_uint>(kCount, 2 * pattern), result);
      }
    }
}

TEST_F(clEnqueueCommandBufferKHR, GivenOverwrittenPartThenTheRestIsWhatOtherDevicesWrote) {
  for (cl_device_id there : devices()) {
    const Mem target = buffer<cl_uint>(4);
    const Mem source = buffer<cl_uint>(4);
    const CommandBuffer made = record_on(queue);
    const cl_uint pattern = 9;
    ASSERT_CL(call.fill_buffer(made, nullptr, target, &pattern, 4, 4, 4, 0, nullptr, nullptr, nullptr));
    ASSERT_CL(call.copy_buffer(made, nullptr, source, target, 0, 8, 4, 0, nullptr, nullptr, nullptr));
    ASSERT_CL(call.copy_buffer(made, nullptr, target, source, 4, 0, 12, 0, nullptr, nullptr, nullptr));
    ASSERT_CL(call.finalize(made));
    const Queue writer = make_queue(0, there);
    const cl_uint values[] = {1, 2, 3, 4};
    for (const cl_mem each : {target.get(), source.get()})
      ASSERT_CL(clEnqueueWriteBuffer(writer, each, CL_TRUE, 0, sizeof values, values, 0, nullptr, nullptr));
    ASSERT_CL(call.enqueue(0, nullptr, made, 0, nullptr, nullptr));
    EXPECT_EQ((std::vector<cl_uint>{1, 9, 1, 4}), read<cl_uint>(target, 4));
    EXPECT_EQ((std::vector<cl_uint>{9, 1, 4, 4}), read<cl_uint>(source, 4));
  }
}

// Every command takes a while, and any other order gives a different result.
TEST_F(clEnqueueCommandBufferKHR, GivenOutOfOrderQueueThenSyncPointsAndEventsGiveTheOrder) {
  if (!keeps_no_order(device)) GTEST_SKIP() << "the device has no such queues";
  program = build(kSlowSource);
  const Kernel slow = kernel(program, "slow");
  const Queue unordered = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const std::vector<cl_uint> zeros(kCount, 0);
  const Mem left = buffer<cl_uint>(kCount, zeros.data());
  const Mem right = buffer<cl_uint>(kCount, zeros.data());
  const CommandBuffer made = record_on(unordered, CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR);
  // Two chains, each of the commands 1 and 2, which then meet.
  std::vector<cl_sync_point_khr> ends;
  for (const cl_mem chain : {left.get(), right.get()}) {
    cl_sync_point_khr first = 0;
    cl_sync_point_khr second = 0;
    set_args(slow, chain, cl_uint{1});
    ASSERT_CL(record_launch(made, slow, kCount, {}, &first));
    set_args(slow, chain, cl_uint{2});
    ASSERT_CL(record_launch(made, slow, kCount, {first}, &second));
    ends.push_back(second);
  }
  const Kernel add = kernel(program, "add");
  set_args(add, left, right);
  ASSERT_CL(record_launch(made, add, kCount, ends));
  ASSERT_CL(call.finalize(made));

  Gate gate(context);
  Event event;
  ASSERT_CL(call.enqueue(0, nullptr, made, 1, gate.ptr(), event.out()));
  for (int run = 1; run < 3; ++run) {
    Event next;
    ASSERT_CL(call.enqueue(0, nullptr, made, 1, event.ptr(), next.out()));
    event = std::move(next);
  }
  EXPECT_EQ(cl_command_buffer_state_khr{CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR}, state_of(made));
  gate.open();
  ASSERT_CL(clWaitForEvents(1, event.ptr()));

  cl_uint expected_left = 0;
  cl_uint expected_right = 0;
  for (int run = 0; run < 3; ++run) {
    for (cl_uint* chain : {&expected_left, &expected_right})
      for (const cl_uint amount : {1U, 2U}) *chain = slow_result(*chain, amount);
    expected_left += expected_right;
  }
  EXPECT_EQ(std::vector<cl_uint>(kCount, expected_left), read<cl_uint>(left, kCount));
  EXPECT_EQ(std::vector<cl_uint>(kCount, expected_right), read<cl_uint>(right, kCount));
}

// Simultaneous runs without events between them may run in any order, but do not mix.
TEST_F(clEnqueueCommandBufferKHR, GivenOutOfOrderQueueThenFinishWaitsForAllRuns) {
  if (!keeps_no_order(device)) GTEST_SKIP() << "the device has no such queues";
  program = build(kSlowSource);
  const Kernel count = kernel(program, "count");
  const Queue unordered = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const cl_uint zero = 0;
  const Mem total = buffer<cl_uint>(1, &zero);
  set_args(count, total);
  const CommandBuffer made = record_on(unordered, CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR);
  for (int i = 0; i < 3; ++i) ASSERT_CL(record_launch(made, count, kCount));
  ASSERT_CL(call.finalize(made));
  for (int run = 0; run < 10; ++run) ASSERT_CL(call.enqueue(0, nullptr, made, 0, nullptr, nullptr));
  ASSERT_CL(clFinish(unordered));
  EXPECT_EQ(cl_command_buffer_state_khr{CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR}, state_of(made));
  EXPECT_EQ((std::vector<cl_uint>{3 * 10 * kCount}), read<cl_uint>(total, 1));
}

TEST_F(clEnqueueCommandBufferKHR, GivenCompatibleQueueThenItRunsThere) {
  const std::vector<cl_uint> zeros(kCount, 0);
  const Mem target = buffer<cl_uint>(kCount, zeros.data());
  const CommandBuffer made = adding(target);
  const Queue other = make_queue(CL_QUEUE_PROFILING_ENABLE);
  Event event;
  ASSERT_CL(call.enqueue(1, const_cast<cl_command_queue*>(other.ptr()), made, 0, nullptr, event.out()));
  EXPECT_EQ(other.get(), info<cl_command_queue>(clGetEventInfo, event.get(), CL_EVENT_COMMAND_QUEUE));
  ASSERT_CL(clWaitForEvents(1, event.ptr()));
  EXPECT_EQ(std::vector<cl_uint>(kCount, 1), read<cl_uint>(target, kCount));
}

// Every command takes a while, and any other order gives a different result.
TEST_F(clEnqueueCommandBufferKHR, GivenQueueWithOtherPropertiesThenTheOrderIsThatOfTheRecording) {
  if (!keeps_no_order(device)) GTEST_SKIP() << "the device has no such queues";
  program = build(kSlowSource);
  const Kernel slow = kernel(program, "slow");
  const Queue ordered = make_queue(0);
  Queue unordered = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE);
  const std::vector<cl_uint> zeros(kCount, 0);
  const Mem data = buffer<cl_uint>(kCount, zeros.data());
  const CommandBuffer made = record_on(ordered);
  cl_uint expected = 0;
  for (const cl_uint amount : {1U, 2U, 3U}) {
    set_args(slow, data, amount);
    ASSERT_CL(record_launch(made, slow, kCount));
  }
  ASSERT_CL(call.finalize(made));
  for (int run = 0; run < 3; ++run) {
    cl_command_queue on = run == 1 ? ordered.get() : unordered.get();
    Event event;
    ASSERT_CL(call.enqueue(1, &on, made, 0, nullptr, event.out()));
    ASSERT_CL(clWaitForEvents(1, event.ptr()));
    for (const cl_uint amount : {1U, 2U, 3U}) expected = slow_result(expected, amount);
  }
  EXPECT_EQ(std::vector<cl_uint>(kCount, expected), read<cl_uint>(data, kCount));
}

TEST_F(clEnqueueCommandBufferKHR, GivenQueueOfAnotherDeviceOrContextThenItsError) {
  const Mem target = buffer<cl_uint>(kCount);
  const CommandBuffer made = adding(target);
  for (cl_device_id other : devices()) {
    if (other == device) continue;
    const Queue there = make_queue(CL_QUEUE_PROFILING_ENABLE, other);
    cl_command_queue handle = there;
    EXPECT_EQ(CL_INVALID_DEVICE, call.enqueue(1, &handle, made, 0, nullptr, nullptr));
  }
  const OtherContext other;
  cl_command_queue handle = other.queue;
  EXPECT_EQ(CL_INVALID_CONTEXT, call.enqueue(1, &handle, made, 0, nullptr, nullptr));
}

TEST_F(clEnqueueCommandBufferKHR, GivenQueuesThatAreNotOneThenInvalidValue) {
  const Mem target = buffer<cl_uint>(kCount);
  const CommandBuffer made = adding(target);
  cl_command_queue two[] = {queue, queue};
  EXPECT_EQ(CL_INVALID_VALUE, call.enqueue(1, nullptr, made, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, call.enqueue(0, two, made, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, call.enqueue(2, two, made, 0, nullptr, nullptr));
}

TEST_F(clEnqueueCommandBufferKHR, GivenStateThatIsNotExecutableThenInvalidOperation) {
  const Mem target = buffer<cl_uint>(kCount);
  const CommandBuffer recording = record_on(queue);
  EXPECT_EQ(CL_INVALID_OPERATION, call.enqueue(0, nullptr, recording, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_COMMAND_BUFFER_KHR, call.enqueue(0, nullptr, nullptr, 0, nullptr, nullptr));
}

// Runs in an in-order queue follow each other, so they need no simultaneous use.
TEST_F(clEnqueueCommandBufferKHR, GivenRunThatIsPendingThenTheNextOneFollows) {
  const std::vector<cl_uint> zeros(kCount, 0);
  const Mem target = buffer<cl_uint>(kCount, zeros.data());
  const CommandBuffer made = adding(target);
  Gate gate(context);
  ASSERT_CL(call.enqueue(0, nullptr, made, 1, gate.ptr(), nullptr));
  EXPECT_EQ(cl_command_buffer_state_khr{CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR}, state_of(made));
  EXPECT_CL(call.enqueue(0, nullptr, made, 0, nullptr, nullptr));
  gate.open();
  EXPECT_EQ(std::vector<cl_uint>(kCount, 2), read<cl_uint>(target, kCount));
}

// A chain of commands in turn on two devices. Every run reads what another device has written before.
TEST_F(clEnqueueCommandBufferKHR, GivenSeveralQueuesThenSyncPointsOrderAcrossDevices) {
  program = build(kSlowSource);
  const Kernel slow = kernel(program, "slow");
  const cl_device_id there = devices().back();
  for (const cl_command_queue_properties properties :
       {cl_command_queue_properties{0},
        cl_command_queue_properties{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE}}) {
    if (properties != 0 && !(keeps_no_order(device) && keeps_no_order(there))) continue;
    const Queue left = make_queue(properties | CL_QUEUE_PROFILING_ENABLE);
    const Queue right = make_queue(properties | CL_QUEUE_PROFILING_ENABLE, there);
    const std::vector<cl_uint> zeros(kCount, 0);
    const Mem data = buffer<cl_uint>(kCount, zeros.data());
    const CommandBuffer made = record_on_all({left.get(), right.get()});
    std::vector<cl_sync_point_khr> last;
    const size_t global = kCount;
    for (cl_uint step = 1; step <= 6; ++step) {
      set_args(slow, data, step);
      cl_sync_point_khr point = 0;
      ASSERT_CL(call.nd_range(made, step % 3 == 0 ? right.get() : left.get(), nullptr, slow, 1, nullptr,
                              &global, nullptr, static_cast<cl_uint>(last.size()),
                              last.empty() ? nullptr : last.data(), &point, nullptr));
      last = {point};
    }
    ASSERT_CL(call.finalize(made));
    cl_uint expected = 0;
    Gate gate(context);
    Event event;
    ASSERT_CL(call.enqueue(0, nullptr, made, 1, gate.ptr(), event.out()));
    for (int run = 1; run < 3; ++run) {
      Event next;
      ASSERT_CL(call.enqueue(0, nullptr, made, 1, event.ptr(), next.out()));
      event = std::move(next);
    }
    gate.open();
    EXPECT_EQ(nullptr, info<cl_command_queue>(clGetEventInfo, event.get(), CL_EVENT_COMMAND_QUEUE));
    ASSERT_CL(clWaitForEvents(1, event.ptr()));
    EXPECT_LE(info<cl_ulong>(clGetEventProfilingInfo, event.get(), CL_PROFILING_COMMAND_START),
              info<cl_ulong>(clGetEventProfilingInfo, event.get(), CL_PROFILING_COMMAND_END));
    for (int run = 0; run < 3; ++run)
      for (cl_uint step = 1; step <= 6; ++step) expected = slow_result(expected, step);
    EXPECT_EQ(std::vector<cl_uint>(kCount, expected), read<cl_uint>(data, kCount));
  }
}

TEST_F(clEnqueueCommandBufferKHR, GivenSeveralQueuesAndAFailedEventThenTheRunFails) {
  const Queue right = make_queue(0, devices().back());
  const Mem first = buffer<cl_uint>(kCount);
  const Mem second = buffer<cl_uint>(kCount);
  const CommandBuffer made = record_on_all({queue.get(), right.get()});
  const cl_uint pattern = 1;
  cl_sync_point_khr point = 0;
  ASSERT_CL(
      call.fill_buffer(made, queue.get(), first, &pattern, 4, 0, 4 * kCount, 0, nullptr, &point, nullptr));
  ASSERT_CL(
      call.copy_buffer(made, right.get(), first, second, 0, 0, 4 * kCount, 1, &point, nullptr, nullptr));
  ASSERT_CL(call.finalize(made));
  cl_int err = CL_SUCCESS;
  const Event failed(clCreateUserEvent(context, &err));
  Event event;
  ASSERT_CL(call.enqueue(0, nullptr, made, 1, failed.ptr(), event.out()));
  ASSERT_CL(clSetUserEventStatus(failed, -7));
  EXPECT_EQ(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, event.ptr()));
  EXPECT_EQ(CL_PROFILING_INFO_NOT_AVAILABLE,
            clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, 0, nullptr, nullptr));
}

TEST_F(clEnqueueCommandBufferKHR, GivenSeveralQueuesAndNoCommandsThenThereIsItsEnd) {
  const Queue right = make_queue(0, devices().back());
  const CommandBuffer made = record_on_all({queue.get(), right.get()});
  run(made);
}

TEST_F(clEnqueueCommandBufferKHR, GivenSimultaneousUseThenAllRunsHappen) {
  const std::vector<cl_uint> zeros(kCount, 0);
  const Mem target = buffer<cl_uint>(kCount, zeros.data());
  const CommandBuffer made = adding(target, CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR);
  Gate gate(context);
  ASSERT_CL(call.enqueue(0, nullptr, made, 1, gate.ptr(), nullptr));
  for (int i = 0; i < 9; ++i) ASSERT_CL(call.enqueue(0, nullptr, made, 0, nullptr, nullptr));
  gate.open();
  EXPECT_EQ(std::vector<cl_uint>(kCount, 10), read<cl_uint>(target, kCount));
}

TEST_F(clEnqueueCommandBufferKHR, GivenNoCommandsThenThereIsItsEnd) {
  const CommandBuffer made = record_on(queue);
  run(made);
  EXPECT_EQ(cl_command_buffer_state_khr{CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR}, state_of(made));
}

TEST_F(clEnqueueCommandBufferKHR, GivenProfilingThenTheTimesAreThoseOfOneCommand) {
  const Mem target = buffer<cl_uint>(kCount);
  const CommandBuffer made = adding(target);
  Event event;
  ASSERT_CL(call.enqueue(0, nullptr, made, 0, nullptr, event.out()));
  ASSERT_CL(clWaitForEvents(1, event.ptr()));
  cl_ulong last = 1;
  for (cl_profiling_info name : {CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT,
                                 CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END}) {
    const auto time = info<cl_ulong>(clGetEventProfilingInfo, event.get(), name);
    EXPECT_LE(last, time);
    last = time;
  }
}

TEST_F(clEnqueueCommandBufferKHR, GivenKernelThatPrintsThenEachRunPrints) {
  program = build(kSource);
  const Kernel shout = kernel(program, "shout");
  const CommandBuffer made = record_on(queue);
  for (cl_uint number : {1U, 2U}) {
    set_args(shout, number);
    ASSERT_CL(record_launch(made, shout, 1));
  }
  ASSERT_CL(call.finalize(made));
  std::string text;
  {
    const Capture capture;
    for (int i = 0; i < 2; ++i) {
      EXPECT_CL(call.enqueue(0, nullptr, made, 0, nullptr, nullptr));
      EXPECT_CL(clFinish(queue));
    }
    text = capture.text();
  }
  EXPECT_EQ("number 1\nnumber 2\nnumber 1\nnumber 2\n", text);
}

TEST_F(clEnqueueCommandBufferKHR, GivenCallThenRulesOfEveryEnqueueHold) {
  const Mem target = buffer<cl_uint>(kCount);
  program = build(kSource);
  const Kernel add = kernel(program, "add");
  set_args(add, target, cl_uint{1});
  const Queue plain = make_queue(0);
  const CommandBuffer made = record_on(plain, CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR);
  ASSERT_CL(record_launch(made, add, kCount));
  ASSERT_CL(call.finalize(made));
  const auto enqueue = [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
    return call.enqueue(1, &on, made, count, list, event);
  };
  expect_enqueue_rules(context, device, CL_COMMAND_COMMAND_BUFFER_KHR, enqueue);
  expect_failed_event_ends_command(context, device, enqueue);
}

}  // namespace clique::test::suite_clEnqueueCommandBufferKHR
