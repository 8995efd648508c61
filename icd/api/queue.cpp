// Sections 5.1, 5.13 and 5.15: command queues, markers and barriers, flush and finish.
#include "icd/core/commands/queue.hpp"

#include "icd/api/boundary.hpp"
#include "icd/api/entry_points.hpp"
#include "icd/api/properties.hpp"

namespace clique::icd::api {

namespace {

constexpr cl_command_queue_properties kHostProperties =
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;
constexpr cl_command_queue_properties kDeviceProperties = CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT;

/// A device of the context.
Ref<Device> member(const Context& context, cl_device_id device) {
  Ref<Device> object = get<Device>(device);
  require(context.has(*object), CL_INVALID_DEVICE, "the device is not in the context");
  return object;
}

/// What a property list asks for, its values valid by themselves.
cl_command_queue_properties parse(const std::vector<cl_queue_properties>& list) {
  cl_command_queue_properties properties = 0;
  bool sized = false;
  for_each_property(list, CL_INVALID_VALUE, [&](cl_queue_properties name, cl_queue_properties value) {
    switch (name) {
      case CL_QUEUE_PROPERTIES:
        require((value & ~(kHostProperties | kDeviceProperties)) == 0, CL_INVALID_VALUE,
                "no such queue property");
        properties = value;
        break;
      case CL_QUEUE_SIZE:
        sized = true;
        break;
      default:
        throw Error(CL_INVALID_VALUE, "no such property");
    }
  });
  const bool on_device = (properties & CL_QUEUE_ON_DEVICE) != 0;
  require(!on_device || (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0, CL_INVALID_VALUE,
          "a queue on the device has to be out of order");
  require(on_device || (properties & CL_QUEUE_ON_DEVICE_DEFAULT) == 0, CL_INVALID_VALUE,
          "the default queue on the device has to be on the device");
  require(on_device || !sized, CL_INVALID_VALUE, "only queues on the device have a size");
  return properties;
}

void require_supported(const Device& device, cl_command_queue_properties properties) {
  const auto supported = device.value<cl_command_queue_properties>(CL_DEVICE_QUEUE_ON_HOST_PROPERTIES);
  require((properties & ~(supported & kHostProperties)) == 0, CL_INVALID_QUEUE_PROPERTIES,
          "the device does not support these queue properties");
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
  require((properties & ~kHostProperties) == 0, CL_INVALID_VALUE, "no such queue property");
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
      throw Error(CL_INVALID_COMMAND_QUEUE, "only queues on the device have a size");
    case CL_QUEUE_DEVICE_DEFAULT:
      write(cl_command_queue{nullptr});
      break;
    default:
      throw Error(CL_INVALID_VALUE, "no such queue information");
  }
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clSetCommandQueueProperty(cl_command_queue command_queue,
                                             cl_command_queue_properties properties, cl_bool /*enable*/,
                                             cl_command_queue_properties* /*old_properties*/) try {
  get<Queue>(command_queue);
  require((properties & ~kHostProperties) == 0, CL_INVALID_VALUE, "no such queue property");
  throw Error(CL_INVALID_OPERATION, "queues cannot be changed since OpenCL 1.1");
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clSetDefaultDeviceCommandQueue(cl_context context, cl_device_id device,
                                                  cl_command_queue /*command_queue*/) try {
  const Ref<Context> owner = get<Context>(context);
  member(*owner, device);
  // There is no queue that this could be called with, so it does not matter which one it was.
  throw Error(CL_INVALID_OPERATION, "the device has no queues of its own");
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
  give_event(queue->marker(waits, event != nullptr), event);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clEnqueueBarrierWithWaitList(cl_command_queue command_queue,
                                                cl_uint num_events_in_wait_list,
                                                const cl_event* event_wait_list, cl_event* event) try {
  const Ref<Queue> queue = get<Queue>(command_queue);
  const auto waits = wait_list(*queue->context(), num_events_in_wait_list, event_wait_list);
  give_event(queue->barrier(waits, event != nullptr), event);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clEnqueueMarker(cl_command_queue command_queue, cl_event* event) try {
  const Ref<Queue> queue = get<Queue>(command_queue);
  require(event != nullptr, CL_INVALID_VALUE, "nothing to return");
  give_event(queue->marker({}, true), event);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clEnqueueBarrier(cl_command_queue command_queue) try {
  get<Queue>(command_queue)->barrier({}, false);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clEnqueueWaitForEvents(cl_command_queue command_queue, cl_uint num_events,
                                          const cl_event* event_list) try {
  const Ref<Queue> queue = get<Queue>(command_queue);
  require(num_events > 0 && event_list != nullptr, CL_INVALID_VALUE, "no events");
  const std::vector<Ref<Event>> events = get_all<Event>(event_list, num_events);
  for (const Ref<Event>& event : events)
    require(event->context() == queue->context(), CL_INVALID_CONTEXT, "an event of another context");
  queue->barrier(events, false);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

}  // namespace clique::icd::api
