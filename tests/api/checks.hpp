// Clauses of the specification that many entry points share.
#pragma once

#include "helpers.hpp"

namespace clique::test {

/// What every clGet*Info promises about sizes and names. `valid` is the name of any value that is not empty.
template <typename Getter, typename Object, typename Name>
void expect_info_rules(Getter getter, Object object, Name valid) {
  SCOPED_TRACE(valid);
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

/// clRetain* adds a reference and clRelease* removes one. `object` has one reference, before and afterwards.
template <typename Handle, typename Getter, typename Name>
void expect_counted_references(Handle object, cl_int(CL_API_CALL* retain)(Handle),
                               cl_int(CL_API_CALL* release)(Handle), Getter getter, Name reference_count) {
  const auto references = [&] { return info<cl_uint>(getter, object, reference_count); };
  EXPECT_EQ(1U, references());
  EXPECT_CL(retain(object));
  EXPECT_CL(retain(object));
  EXPECT_EQ(3U, references());
  EXPECT_CL(release(object));
  EXPECT_EQ(2U, references());
  EXPECT_CL(release(object));
  EXPECT_EQ(1U, references());
}

/// clRetainDevice and clReleaseDevice count the references of sub-devices. Skips the test if the device
/// cannot be partitioned.
inline void expect_counted_sub_devices(cl_device_id device) {
  const cl_device_partition_property properties[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
  cl_uint count = 0;
  if (clCreateSubDevices(device, properties, 0, nullptr, &count) != CL_SUCCESS)
    GTEST_SKIP() << "the device cannot be partitioned";
  std::vector<cl_device_id> parts(count);
  ASSERT_CL(clCreateSubDevices(device, properties, count, parts.data(), nullptr));
  expect_counted_references(parts[0], ::clRetainDevice, ::clReleaseDevice, clGetDeviceInfo,
                            CL_DEVICE_REFERENCE_COUNT);
  for (const cl_device_id part : parts) EXPECT_CL(::clReleaseDevice(part));
}

/// What every clEnqueue* promises about its queue, wait list and event.
/// `enqueue(queue, count, list, event)` makes the call with otherwise valid arguments, not blocking, and
/// returns its error code. It is called several times.
/// @param on_other_context the error code that it returns for a queue of another context.
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
  EXPECT_EQ(CL_COMPLETE, status_of(plain));

  Event gated;
  ASSERT_CL(enqueue(queue.get(), 1U, gate.ptr(), gated.out()));
  EXPECT_CL(clFlush(queue));
  EXPECT_GT(status_of(gated), CL_RUNNING) << "ran before the event that it waits for";
  EXPECT_CL(clSetUserEventStatus(gate, CL_COMPLETE));
  EXPECT_CL(clWaitForEvents(1, gated.ptr()));
  EXPECT_EQ(CL_COMPLETE, status_of(gated));
  EXPECT_CL(clFinish(queue));
}

/// A command that waits for an event that fails does not run, and its own event fails.
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
  EXPECT_LT(status_of(event), 0);
}

/// What clEnqueueMarkerWithWaitList and clEnqueueBarrierWithWaitList have in common beyond
/// expect_enqueue_rules(): without a wait list the command waits for earlier commands of its in-order queue;
/// with one it waits for the listed events, also for those of other devices, and fails if one of them fails.
template <typename Enqueue>
void expect_synchronization_rules(cl_context context, Enqueue enqueue) {
  const auto make_queue = [&](cl_device_id device, cl_command_queue_properties properties) {
    const cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, properties, 0};
    cl_int err = CL_SUCCESS;
    Queue queue(clCreateCommandQueueWithProperties(context, device, list, &err));
    EXPECT_EQ(CL_SUCCESS, err);
    return queue;
  };
  const Queue queue = make_queue(devices().front(), 0);
  {
    Gate gate(context);
    const Event earlier = enqueue_blocked_marker(queue, gate);
    Event event;
    ASSERT_CL(enqueue(queue.get(), 0U, nullptr, event.out()));
    ASSERT_CL(clFlush(queue));
    EXPECT_GT(status_of(event), CL_RUNNING);
    gate.open();
    ASSERT_CL(clWaitForEvents(1, event.ptr()));
    EXPECT_EQ(CL_COMPLETE, status_of(earlier));
  }
  {
    std::vector<Queue> queues;
    std::vector<Event> events;
    std::vector<cl_event> handles;
    Gate gate(context);
    for (const cl_device_id device : devices()) {
      queues.push_back(make_queue(device, 0));
      events.push_back(enqueue_blocked_marker(queues.back(), gate));
      handles.push_back(events.back());
      ASSERT_CL(clFlush(queues.back()));
    }
    Event event;
    ASSERT_CL(enqueue(queue.get(), static_cast<cl_uint>(handles.size()), handles.data(), event.out()));
    ASSERT_CL(clFlush(queue));
    EXPECT_GT(status_of(event), CL_RUNNING);
    gate.open();
    ASSERT_CL(clWaitForEvents(1, event.ptr()));
    for (const Event& each : events) EXPECT_EQ(CL_COMPLETE, status_of(each));
  }
  {
    const Queue any_order = make_queue(devices().front(), CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    Gate gate(context);
    Event event;
    ASSERT_CL(enqueue(any_order.get(), 1U, gate.ptr(), event.out()));
    gate.fail();
    EXPECT_EQ(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, event.ptr()));
    EXPECT_LT(status_of(event), 0);
  }
}

/// A blocking call returns an error when an event of its wait list has failed. `enqueue` makes a blocking
/// call.
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
