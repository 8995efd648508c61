// clSetEventCallback: OpenCL 3.0, section 5.11.
#include <thread>

#include "helpers.hpp"

namespace clique::test::suite_clSetEventCallback {

class clSetEventCallback : public ApiTest {
 protected:
  struct Call {
    cl_event event;
    cl_int status;
  };
  static void CL_CALLBACK notify(cl_event event, cl_int status, void* calls) {
    static_cast<Calls<Call>*>(calls)->add({event, status});
  }
  /// Checks that the callback was called exactly once, for `event` with `status`.
  static void expect_call(Calls<Call>& calls, cl_event event, cl_int status) {
    const std::vector<Call> made = calls.wait_for(1);
    ASSERT_EQ(1U, made.size());
    EXPECT_EQ(event, made.front().event);
    EXPECT_EQ(status, made.front().status);
  }
};

TEST_F(clSetEventCallback, GivenCompletionThenCalledOnceWithComplete) {
  Calls<Call> calls;
  Gate gate(context);
  Event marker;
  ASSERT_CL(clEnqueueMarkerWithWaitList(queue, 1, gate.ptr(), marker.out()));
  ASSERT_CL(::clSetEventCallback(marker, CL_COMPLETE, notify, &calls));
  ASSERT_CL(clFlush(queue));
  EXPECT_TRUE(calls.wait_for(0).empty());
  gate.open();
  expect_call(calls, marker, CL_COMPLETE);
}

TEST_F(clSetEventCallback, GivenSubmittedRunningAndCompleteThenEachIsCalledOnce) {
  const Program program = build("kernel void k(global int* out) { *out = 1; }");
  const Kernel k = kernel(program, "k");
  const Mem mem = buffer<int>(1);
  set_args(k, mem);
  Calls<Call> submitted;
  Calls<Call> running;
  Calls<Call> complete;
  Gate gate(context);
  Event event;
  ASSERT_CL(launch(queue, k, 1, {gate}, event.out()));
  ASSERT_CL(::clSetEventCallback(event, CL_SUBMITTED, notify, &submitted));
  ASSERT_CL(::clSetEventCallback(event, CL_RUNNING, notify, &running));
  ASSERT_CL(::clSetEventCallback(event, CL_COMPLETE, notify, &complete));
  gate.open();
  ASSERT_CL(clFinish(queue));
  // The callback may be called with a later status than its own, so only this can be checked.
  for (Calls<Call>* calls : {&submitted, &running, &complete}) {
    const std::vector<Call> made = calls->wait_for(1);
    ASSERT_EQ(1U, made.size());
    EXPECT_EQ(event.get(), made.front().event);
    EXPECT_GE(made.front().status, CL_COMPLETE);
  }
  EXPECT_EQ(CL_COMPLETE, complete.wait_for(1).front().status);
}

TEST_F(clSetEventCallback, GivenCompleteEventThenCalledStill) {
  Calls<Call> complete;
  Calls<Call> submitted;
  Event marker;
  ASSERT_CL(clEnqueueMarkerWithWaitList(queue, 0, nullptr, marker.out()));
  ASSERT_CL(clFinish(queue));
  ASSERT_CL(::clSetEventCallback(marker, CL_COMPLETE, notify, &complete));
  ASSERT_CL(::clSetEventCallback(marker, CL_SUBMITTED, notify, &submitted));
  expect_call(complete, marker, CL_COMPLETE);
  EXPECT_EQ(1U, submitted.wait_for(1).size());
}

TEST_F(clSetEventCallback, GivenUserEventThenCalledWhenItIsSet) {
  Calls<Call> calls;
  const Event user = user_event();
  ASSERT_CL(::clSetEventCallback(user, CL_COMPLETE, notify, &calls));
  EXPECT_TRUE(calls.wait_for(0).empty());
  ASSERT_CL(clSetUserEventStatus(user, CL_COMPLETE));
  expect_call(calls, user, CL_COMPLETE);
}

TEST_F(clSetEventCallback, GivenFailedUserEventThenCalledWithItsStatus) {
  Calls<Call> calls;
  const Event user = user_event();
  ASSERT_CL(::clSetEventCallback(user, CL_COMPLETE, notify, &calls));
  ASSERT_CL(clSetUserEventStatus(user, -77));
  expect_call(calls, user, -77);
}

TEST_F(clSetEventCallback, GivenFailedDependantThenCalledWithNegativeStatus) {
  Calls<Call> calls;
  const Queue any_order = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  Gate gate(context);
  Event marker;
  ASSERT_CL(clEnqueueMarkerWithWaitList(any_order, 1, gate.ptr(), marker.out()));
  ASSERT_CL(::clSetEventCallback(marker, CL_COMPLETE, notify, &calls));
  ASSERT_CL(clFlush(any_order));
  gate.fail();
  const std::vector<Call> made = calls.wait_for(1);
  ASSERT_EQ(1U, made.size());
  EXPECT_LT(made.front().status, 0);
}

TEST_F(clSetEventCallback, GivenSeveralCallbacksOnOneEventThenAllAreCalled) {
  Calls<Call> calls;
  const Event user = user_event();
  for (int i = 0; i < 20; ++i) ASSERT_CL(::clSetEventCallback(user, CL_COMPLETE, notify, &calls));
  ASSERT_CL(clSetUserEventStatus(user, CL_COMPLETE));
  EXPECT_EQ(20U, calls.wait_for(20).size());
}

TEST_F(clSetEventCallback, GivenEventReleasedBeforeItCompletesThenCalledStill) {
  Calls<Call> calls;
  Gate gate(context);
  Event marker;
  ASSERT_CL(clEnqueueMarkerWithWaitList(queue, 1, gate.ptr(), marker.out()));
  ASSERT_CL(::clSetEventCallback(marker, CL_COMPLETE, notify, &calls));
  marker.reset();
  ASSERT_CL(clFlush(queue));
  gate.open();
  EXPECT_EQ(1U, calls.wait_for(1).size());
}

TEST_F(clSetEventCallback, GivenDataReadThenItIsThereInTheCallback) {
  struct State {
    int value = 0;
    Calls<int> seen;
  } state;
  const int value = 31;
  const Mem mem = buffer<int>(1, &value);
  Event event;
  ASSERT_CL(clEnqueueReadBuffer(queue, mem, CL_FALSE, 0, sizeof(int), &state.value, 0, nullptr, event.out()));
  const auto look = [](cl_event, cl_int, void* data) {
    auto* s = static_cast<State*>(data);
    s->seen.add(s->value);
  };
  ASSERT_CL(::clSetEventCallback(event, CL_COMPLETE, look, &state));
  ASSERT_CL(clFlush(queue));
  EXPECT_EQ(std::vector<int>{31}, state.seen.wait_for(1));
}

TEST_F(clSetEventCallback, GivenCallbackThatEnqueuesThenItsCommandRuns) {
  struct State {
    cl_command_queue queue;
    cl_mem mem;
    Calls<cl_int> done;
    int value = 12;
  };
  const Queue other_queue = make_queue();
  const Mem mem = buffer<int>(1);
  State state = {other_queue, mem, {}};
  Event marker;
  ASSERT_CL(clEnqueueMarkerWithWaitList(queue, 0, nullptr, marker.out()));
  const auto write = [](cl_event, cl_int, void* data) {
    auto* s = static_cast<State*>(data);
    cl_int err =
        clEnqueueWriteBuffer(s->queue, s->mem, CL_FALSE, 0, sizeof(int), &s->value, 0, nullptr, nullptr);
    if (err == CL_SUCCESS) err = clFlush(s->queue);
    s->done.add(err);
  };
  ASSERT_CL(::clSetEventCallback(marker, CL_COMPLETE, write, &state));
  ASSERT_CL(clFlush(queue));
  ASSERT_EQ(std::vector<cl_int>{CL_SUCCESS}, state.done.wait_for(1));
  ASSERT_CL(clFinish(other_queue));
  EXPECT_EQ(12, read<int>(mem, 1).front());
}

TEST_F(clSetEventCallback, GivenCallbackThatSetsUserEventThenWaitingCommandGoesOn) {
  Gate gate(context);
  Event first;
  Event second;
  const Queue other_queue = make_queue();
  ASSERT_CL(clEnqueueMarkerWithWaitList(other_queue, 1, gate.ptr(), second.out()));
  ASSERT_CL(clEnqueueMarkerWithWaitList(queue, 0, nullptr, first.out()));
  const auto open = [](cl_event, cl_int, void* data) { static_cast<Gate*>(data)->open(); };
  ASSERT_CL(::clSetEventCallback(first, CL_COMPLETE, open, &gate));
  ASSERT_CL(clFlush(queue));
  EXPECT_CL(clWaitForEvents(1, second.ptr()));
}

TEST_F(clSetEventCallback, GivenNoFunctionOrUnknownStatusThenInvalidValue) {
  Calls<Call> calls;
  const Event user = user_event();
  EXPECT_EQ(CL_INVALID_VALUE, ::clSetEventCallback(user, CL_COMPLETE, nullptr, &calls));
  EXPECT_EQ(CL_INVALID_VALUE, ::clSetEventCallback(user, CL_QUEUED, notify, &calls));
  EXPECT_EQ(CL_INVALID_VALUE, ::clSetEventCallback(user, 17, notify, &calls));
  EXPECT_EQ(CL_INVALID_VALUE, ::clSetEventCallback(user, -1, notify, &calls));
}

TEST_F(clSetEventCallback, GivenNullEventThenInvalidEvent) {
  EXPECT_EQ(CL_INVALID_EVENT, ::clSetEventCallback(nullptr, CL_COMPLETE, notify, nullptr));
}

}  // namespace clique::test::suite_clSetEventCallback
