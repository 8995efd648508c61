// Sections 5.1, 5.13 and 5.15: command queues, markers and barriers, flush and finish.
#include "icd/core/commands/queue.hpp"

#include "icd/api/arguments.hpp"
#include "icd/api/boundary.hpp"
#include "icd/api/entry_points.hpp"
#include "icd/api/properties.hpp"

namespace clique::icd::api {

namespace {

constexpr cl_command_queue_properties kHostProperties =
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;
constexpr cl_command_queue_properties kDeviceProperties = CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT;

/// The device, which must be in the context. Throws Error(CL_INVALID_DEVICE).
Ref<Device> member(const Context& context, cl_device_id device) {
  Ref<Device> object = get<Device>(device);
  require(context.has(*object), CL_INVALID_DEVICE, "the device does not belong to the context");
  return object;
}

/// The properties that a list asks for. Checks them without regard to the device. Throws
/// Error(CL_INVALID_VALUE).
cl_command_queue_properties parse(const std::vector<cl_queue_properties>& list) {
  cl_command_queue_properties properties = 0;
  bool sized = false;
  for_each_property(list, CL_INVALID_VALUE, [&](cl_queue_properties name, cl_queue_properties value) {
    switch (name) {
      case CL_QUEUE_PROPERTIES:
        require((value & ~(kHostProperties | kDeviceProperties)) == 0, CL_INVALID_VALUE,
                "CL_QUEUE_PROPERTIES is ", Hex{value}, ", of which some bits are not defined");
        properties = value;
        break;
      case CL_QUEUE_SIZE:
        sized = true;
        break;
      default:
        throw Error(CL_INVALID_VALUE, "property ", Hex{static_cast<std::uint64_t>(name)}, " is not defined");
    }
  });
  const bool on_device = (properties & CL_QUEUE_ON_DEVICE) != 0;
  require(!on_device || (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0, CL_INVALID_VALUE,
          "CL_QUEUE_ON_DEVICE requires CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE");
  require(on_device || (properties & CL_QUEUE_ON_DEVICE_DEFAULT) == 0, CL_INVALID_VALUE,
          "CL_QUEUE_ON_DEVICE_DEFAULT requires CL_QUEUE_ON_DEVICE");
  require(on_device || !sized, CL_INVALID_VALUE, "CL_QUEUE_SIZE requires CL_QUEUE_ON_DEVICE");
  return properties;
}

void require_host_properties(cl_command_queue_properties properties) {
  require((properties & ~kHostProperties) == 0, CL_INVALID_VALUE, "properties are ", Hex{properties},
          "; defined for this function are ", Hex{kHostProperties});
}

void require_supported(const Device& device, cl_command_queue_properties properties) {
  const auto supported = device.value<cl_command_queue_properties>(CL_DEVICE_QUEUE_ON_HOST_PROPERTIES);
  require((properties & ~(supported & kHostProperties)) == 0, CL_INVALID_QUEUE_PROPERTIES,
          "the queue properties are ", Hex{properties}, "; the device supports ",
          Hex{supported & kHostProperties});
}

}  // namespace

cl_command_queue CL_API_CALL clCreateCommandQueueWithProperties(cl_context context, cl_device_id device,
                                                                const cl_queue_properties* properties,
                                                                cl_int* errcode_ret) try {
  const Ref<Context> owner = get<Context>(context);
  const Ref<Device> target = member(*owner, device);
  std::vector<cl_queue_properties> list = property_list(properties);
  const cl_command_queue_properties wanted = parse(list);
  require_supported(*target, wanted);
  return created(new Queue(owner, target, wanted, std::move(list)), errcode_ret);
}
CLIQUE_CATCH_ERRCODE(errcode_ret)

cl_command_queue CL_API_CALL clCreateCommandQueueWithPropertiesKHR(cl_context context, cl_device_id device,
                                                                   const cl_queue_properties_khr* properties,
                                                                   cl_int* errcode_ret) {
  return api::clCreateCommandQueueWithProperties(context, device, properties, errcode_ret);
}

cl_command_queue CL_API_CALL clCreateCommandQueue(cl_context context, cl_device_id device,
                                                  cl_command_queue_properties properties,
                                                  cl_int* errcode_ret) try {
  const Ref<Context> owner = get<Context>(context);
  const Ref<Device> target = member(*owner, device);
  require_host_properties(properties);
  require_supported(*target, properties);
  return created(new Queue(owner, target, properties, {}), errcode_ret);
}
CLIQUE_CATCH_ERRCODE(errcode_ret)

cl_int CL_API_CALL clRetainCommandQueue(cl_command_queue command_queue) try {
  get<Queue>(command_queue)->retain();
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clReleaseCommandQueue(cl_command_queue command_queue) try {
  get<Queue>(command_queue)->release();
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clGetCommandQueueInfo(cl_command_queue command_queue, cl_command_queue_info param_name,
                                         size_t param_value_size, void* param_value,
                                         size_t* param_value_size_ret) try {
  const Ref<Queue> queue = get<Queue>(command_queue);
  const InfoWriter write(param_value_size, param_value, param_value_size_ret);
  switch (param_name) {
    case CL_QUEUE_CONTEXT:
      write(static_cast<cl_context>(queue->context().get()));
      break;
    case CL_QUEUE_DEVICE:
      write(static_cast<cl_device_id>(queue->device().get()));
      break;
    case CL_QUEUE_REFERENCE_COUNT:
      write(queue->api_references());
      break;
    case CL_QUEUE_PROPERTIES:
      write(queue->properties());
      break;
    case CL_QUEUE_PROPERTIES_ARRAY:
      write(queue->property_list());
      break;
    case CL_QUEUE_SIZE:
      throw Error(CL_INVALID_COMMAND_QUEUE, "CL_QUEUE_SIZE is defined for queues on the device only");
    case CL_QUEUE_DEVICE_DEFAULT:
      write(cl_command_queue{nullptr});
      break;
    default:
      throw unknown_param(param_name);
  }
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clSetCommandQueueProperty(cl_command_queue command_queue,
                                             cl_command_queue_properties properties, cl_bool /*enable*/,
                                             cl_command_queue_properties* /*old_properties*/) try {
  get<Queue>(command_queue);
  require_host_properties(properties);
  throw Error(CL_INVALID_OPERATION, "since OpenCL 1.1, the properties of queues cannot be changed");
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clSetDefaultDeviceCommandQueue(cl_context context, cl_device_id device,
                                                  cl_command_queue /*command_queue*/) try {
  const Ref<Context> owner = get<Context>(context);
  member(*owner, device);
  // No queue is valid for this function, so the argument does not matter.
  throw Error(CL_INVALID_OPERATION, "the device does not support queues on the device");
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clFlush(cl_command_queue command_queue) try {
  get<Queue>(command_queue)->flush();
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clFinish(cl_command_queue command_queue) try {
  get<Queue>(command_queue)->finish();
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clEnqueueMarkerWithWaitList(cl_command_queue command_queue,
                                               cl_uint num_events_in_wait_list,
                                               const cl_event* event_wait_list, cl_event* event) try {
  const Ref<Queue> queue = get<Queue>(command_queue);
  const auto waits = wait_list(*queue->context(), num_events_in_wait_list, event_wait_list);
  give_event(queue->marker(waits, report_if(event != nullptr)), event);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clEnqueueBarrierWithWaitList(cl_command_queue command_queue,
                                                cl_uint num_events_in_wait_list,
                                                const cl_event* event_wait_list, cl_event* event) try {
  const Ref<Queue> queue = get<Queue>(command_queue);
  const auto waits = wait_list(*queue->context(), num_events_in_wait_list, event_wait_list);
  give_event(queue->barrier(waits, report_if(event != nullptr)), event);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clEnqueueMarker(cl_command_queue command_queue, cl_event* event) try {
  const Ref<Queue> queue = get<Queue>(command_queue);
  require(event != nullptr, CL_INVALID_VALUE, "event is NULL");
  give_event(queue->marker({}, EventUse::Report), event);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clEnqueueBarrier(cl_command_queue command_queue) try {
  get<Queue>(command_queue)->barrier({}, EventUse::None);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clEnqueueWaitForEvents(cl_command_queue command_queue, cl_uint num_events,
                                          const cl_event* event_list) try {
  const Ref<Queue> queue = get<Queue>(command_queue);
  require(num_events > 0 && event_list != nullptr, CL_INVALID_VALUE, "num_events is ", num_events,
          event_list == nullptr ? " and event_list is NULL" : "");
  const std::vector<Ref<Event>> events = get_all<Event>(event_list, num_events);
  for (const Ref<Event>& event : events)
    require(event->context() == queue->context(), CL_INVALID_CONTEXT, "an event belongs to another context");
  queue->barrier(events, EventUse::None);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

}  // namespace clique::icd::api
