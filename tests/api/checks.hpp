// Clauses that many entry points share, so that each is checked the same way everywhere.
#pragma once

#include <chrono>
#include <thread>

#include "fixture.hpp"

namespace clique::test {

/// A second context over the same devices, for objects that do not belong to the test's own context.
inline Context another_context() {
  cl_int err = CL_SUCCESS;
  Context result(clCreateContext(nullptr, static_cast<cl_uint>(devices().size()), devices().data(), nullptr,
                                 nullptr, &err));
  EXPECT_EQ(CL_SUCCESS, err);
  return result;
}

/// Whether `condition` becomes true. For what a driver may do asynchronously, such as callbacks.
template <typename Condition>
bool eventually(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

/// What every clGet*Info promises about sizes and names; `valid` names any value that is not empty.
template <typename Getter, typename Object, typename Name>
void expect_info_rules(Getter getter, Object object, Name valid) {
  size_t size = 0;
  ASSERT_CL(getter(object, valid, 0, nullptr, &size));
  ASSERT_GT(size, 0U);
  std::vector<unsigned char> value(size + 8, 0xA5);
  size_t returned = 0;
  EXPECT_CL(getter(object, valid, value.size(), value.data(), &returned));
  EXPECT_EQ(size, returned);
  EXPECT_EQ(std::vector<unsigned char>(8, 0xA5), std::vector<unsigned char>(value.end() - 8, value.end()))
      << "written past the value";
  EXPECT_CL(getter(object, valid, size, value.data(), nullptr));
  EXPECT_CL(getter(object, valid, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, getter(object, valid, size - 1, value.data(), nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, getter(object, valid, 0, value.data(), nullptr));
  for (const Name unknown : {Name{0}, static_cast<Name>(0x7FFFFFF1), static_cast<Name>(~Name{0})}) {
    EXPECT_EQ(CL_INVALID_VALUE, getter(object, unknown, value.size(), value.data(), &returned)) << unknown;
    EXPECT_EQ(CL_INVALID_VALUE, getter(object, unknown, 0, nullptr, &returned)) << unknown;
  }
}

inline cl_int execution_status(cl_event event) {
  return info<cl_int>(clGetEventInfo, event, CL_EVENT_COMMAND_EXECUTION_STATUS);
}

/// What every clEnqueue* promises about its queue, wait list and event.
/// `enqueue(queue, count, list, event)` makes the call with otherwise valid arguments, not blocking, and
/// returns its error code. It is called several times.
/// @param on_other_context what it gives for a queue of another context.
template <typename Enqueue>
void expect_enqueue_rules(cl_context context, cl_device_id device, cl_command_type type, Enqueue enqueue,
                          cl_int on_other_context = CL_INVALID_CONTEXT) {
  cl_int err = CL_SUCCESS;
  const Queue queue(clCreateCommandQueueWithProperties(context, device, nullptr, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  const Context other = another_context();
  const Queue other_queue(clCreateCommandQueueWithProperties(other, device, nullptr, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  const Event other_event(clCreateUserEvent(other, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  const Event gate(clCreateUserEvent(context, &err));
  ASSERT_EQ(CL_SUCCESS, err);

  EXPECT_EQ(CL_INVALID_COMMAND_QUEUE, enqueue(cl_command_queue{}, 0U, nullptr, nullptr));
  EXPECT_EQ(on_other_context, enqueue(other_queue.get(), 0U, nullptr, nullptr));
  EXPECT_CL(clFinish(other_queue));
  EXPECT_EQ(CL_INVALID_EVENT_WAIT_LIST, enqueue(queue.get(), 1U, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_EVENT_WAIT_LIST, enqueue(queue.get(), 0U, gate.ptr(), nullptr));
  for (const cl_event bad : {cl_event{}, foreign_handle<cl_event>()}) {
    const cl_event list[] = {gate, bad};
    EXPECT_EQ(CL_INVALID_EVENT_WAIT_LIST, enqueue(queue.get(), 2U, list, nullptr)) << bad;
  }
  const cl_event mixed[] = {gate, other_event};
  EXPECT_EQ(CL_INVALID_CONTEXT, enqueue(queue.get(), 2U, mixed, nullptr));

  Event plain;
  ASSERT_CL(enqueue(queue.get(), 0U, nullptr, plain.out()));
  ASSERT_NE(nullptr, plain.get());
  EXPECT_EQ(type, info<cl_command_type>(clGetEventInfo, plain.get(), CL_EVENT_COMMAND_TYPE));
  EXPECT_EQ(queue.get(), info<cl_command_queue>(clGetEventInfo, plain.get(), CL_EVENT_COMMAND_QUEUE));
  EXPECT_EQ(context, info<cl_context>(clGetEventInfo, plain.get(), CL_EVENT_CONTEXT));
  EXPECT_CL(clWaitForEvents(1, plain.ptr()));
  EXPECT_EQ(CL_COMPLETE, execution_status(plain));

  Event gated;
  ASSERT_CL(enqueue(queue.get(), 1U, gate.ptr(), gated.out()));
  EXPECT_CL(clFlush(queue));
  EXPECT_GT(execution_status(gated), CL_RUNNING) << "ran before the event that it waits for";
  EXPECT_CL(clSetUserEventStatus(gate, CL_COMPLETE));
  EXPECT_CL(clWaitForEvents(1, gated.ptr()));
  EXPECT_EQ(CL_COMPLETE, execution_status(gated));
  EXPECT_CL(clFinish(queue));
}

/// A command that waits for a failed event must not run, and its own event ends with an error.
template <typename Enqueue>
void expect_failed_event_ends_command(cl_context context, cl_device_id device, Enqueue enqueue) {
  cl_int err = CL_SUCCESS;
  const Queue queue(clCreateCommandQueueWithProperties(context, device, nullptr, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  const Event gate(clCreateUserEvent(context, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  Event event;
  ASSERT_CL(enqueue(queue.get(), 1U, gate.ptr(), event.out()));
  ASSERT_CL(clSetUserEventStatus(gate, -1));
  EXPECT_EQ(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, event.ptr()));
  EXPECT_LT(execution_status(event), 0);
}

/// A blocking call whose wait list has a failed event reports that. `enqueue` makes a blocking call.
template <typename Enqueue>
void expect_blocking_reports_failed_event(cl_context context, cl_device_id device, Enqueue enqueue) {
  cl_int err = CL_SUCCESS;
  const Queue queue(clCreateCommandQueueWithProperties(context, device, nullptr, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  const Event gate(clCreateUserEvent(context, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  ASSERT_CL(clSetUserEventStatus(gate, -1));
  EXPECT_EQ(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, enqueue(queue.get(), 1U, gate.ptr(), nullptr));
}

}  // namespace clique::test
