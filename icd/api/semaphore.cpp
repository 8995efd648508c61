// cl_khr_semaphore: semaphores.
#include "icd/core/objects/semaphore.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "icd/api/arguments.hpp"
#include "icd/api/boundary.hpp"
#include "icd/api/entry_points.hpp"
#include "icd/core/objects/context.hpp"

namespace clique::icd::api {

namespace {

/// What clCreateSemaphoreWithPropertiesKHR is asked for.
struct SemaphoreProperties {
  Ref<Device> device;                             ///< null: not given
  std::vector<cl_semaphore_properties_khr> list;  ///< all of it, with its closing 0
};

/// The only device of the list at `at`. Throws Error(CL_INVALID_DEVICE).
Ref<Device> only_device(const Context& context, const cl_semaphore_properties_khr* at) {
  // The entries after a wrong one may not be there.
  require(*at != 0, CL_INVALID_DEVICE,
          "CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR has no device; a semaphore needs exactly one");
  // NOLINTNEXTLINE(performance-no-int-to-ptr): lists have handles as integers
  Ref<Device> device = get<Device>(reinterpret_cast<cl_device_id>(static_cast<std::uintptr_t>(*at)));
  require(context.has(*device), CL_INVALID_DEVICE,
          "the device of CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR does not belong to the context");
  require(at[1] == 0, CL_INVALID_DEVICE,
          "CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR has several devices; a semaphore needs exactly one");
  return device;
}

/// Reads a list of properties. Throws Error(CL_INVALID_VALUE), Error(CL_INVALID_PROPERTY),
/// Error(CL_INVALID_DEVICE).
SemaphoreProperties semaphore_properties(const Context& context, const cl_semaphore_properties_khr* list) {
  require(list != nullptr, CL_INVALID_VALUE, "sema_props is NULL; CL_SEMAPHORE_TYPE_KHR is required");
  SemaphoreProperties result;
  bool typed = false;
  const cl_semaphore_properties_khr* at = list;
  // A name that occurs twice, or is unknown, may be the last entry that is there.
  while (*at != 0) {
    const cl_semaphore_properties_khr name = *at++;
    switch (name) {
      case CL_SEMAPHORE_TYPE_KHR:
        require(!typed, CL_INVALID_PROPERTY, "CL_SEMAPHORE_TYPE_KHR occurs twice in sema_props");
        require(*at == CL_SEMAPHORE_TYPE_BINARY_KHR, CL_INVALID_PROPERTY, "CL_SEMAPHORE_TYPE_KHR is ",
                Hex{*at}, "; allowed is CL_SEMAPHORE_TYPE_BINARY_KHR");
        typed = true;
        ++at;
        break;
      case kSemaphoreDevices:
        require(!result.device, CL_INVALID_PROPERTY,
                "CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR occurs twice in sema_props");
        result.device = only_device(context, at);
        at += 2;
        break;
      default:
        throw Error(CL_INVALID_PROPERTY, "property ", Hex{name},
                    " of sema_props is not defined; allowed are CL_SEMAPHORE_TYPE_KHR and "
                    "CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR");
    }
  }
  require(typed, CL_INVALID_VALUE, "sema_props lacks CL_SEMAPHORE_TYPE_KHR, which is required");
  require(result.device || context.devices().size() == 1, CL_INVALID_PROPERTY, "the context has ",
          context.devices().size(),
          " devices; sema_props has to name one of them (CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR)");
  result.list.assign(list, at + 1);
  return result;
}

/// The arguments of a command that signals semaphores or waits for them.
struct SemaphoreArguments {
  Ref<Queue> queue;
  std::vector<Ref<Semaphore>> semaphores;  ///< each once
  std::vector<Ref<Event>> waits;
};

/// Throws Error with the status of the first argument that is not valid. Binary semaphores have no payloads
/// that the application chooses, so these are not looked at.
SemaphoreArguments semaphore_arguments(cl_command_queue command_queue, cl_uint count,
                                       const cl_semaphore_khr* semaphores, cl_uint events,
                                       const cl_event* event_wait_list) {
  SemaphoreArguments result;
  result.queue = get<Queue>(command_queue);
  const Queue& queue = *result.queue;
  require(count != 0 && semaphores != nullptr, CL_INVALID_VALUE, "num_sema_objects is ", count,
          semaphores == nullptr ? " and sema_objects is NULL" : "");
  for (Ref<Semaphore>& semaphore : get_all<Semaphore>(semaphores, count)) {
    if (semaphore->context() != queue.context()) {
      require(semaphore->context()->has(*queue.device()), CL_INVALID_COMMAND_QUEUE,
              "a semaphore belongs to a context without the queue's device");
      throw Error(CL_INVALID_CONTEXT, "the queue and a semaphore belong to different contexts");
    }
    require(semaphore->device() == queue.device(), CL_INVALID_COMMAND_QUEUE,
            "a semaphore belongs to another device than the queue");
    auto& all = result.semaphores;
    if (std::find(all.begin(), all.end(), semaphore) == all.end()) all.push_back(std::move(semaphore));
  }
  result.waits = wait_list(*queue.context(), events, event_wait_list);
  for (const Ref<Event>& wait : result.waits)
    require(wait->status() >= 0, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
            "an event of event_wait_list has failed with status ", wait->status());
  return result;
}

}  // namespace

cl_semaphore_khr CL_API_CALL clCreateSemaphoreWithPropertiesKHR(cl_context context,
                                                                const cl_semaphore_properties_khr* sema_props,
                                                                cl_int* errcode_ret) try {
  const Ref<Context> owner = get<Context>(context);
  SemaphoreProperties wanted = semaphore_properties(*owner, sema_props);
  const Ref<Device> device = wanted.device ? wanted.device : owner->devices().front();
  return created(new Semaphore(owner, device, std::move(wanted.list)), errcode_ret);
}
CLIQUE_CATCH_ERRCODE(errcode_ret)

cl_int CL_API_CALL clEnqueueWaitSemaphoresKHR(cl_command_queue command_queue, cl_uint num_sema_objects,
                                              const cl_semaphore_khr* sema_objects,
                                              const cl_semaphore_payload_khr* /*sema_payload_list*/,
                                              cl_uint num_events_in_wait_list,
                                              const cl_event* event_wait_list, cl_event* event) try {
  const SemaphoreArguments arguments = semaphore_arguments(command_queue, num_sema_objects, sema_objects,
                                                           num_events_in_wait_list, event_wait_list);
  give_event(Semaphore::enqueue_wait(*arguments.queue, arguments.semaphores, arguments.waits,
                                     report_if(event != nullptr)),
             event);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clEnqueueSignalSemaphoresKHR(cl_command_queue command_queue, cl_uint num_sema_objects,
                                                const cl_semaphore_khr* sema_objects,
                                                const cl_semaphore_payload_khr* /*sema_payload_list*/,
                                                cl_uint num_events_in_wait_list,
                                                const cl_event* event_wait_list, cl_event* event) try {
  const SemaphoreArguments arguments = semaphore_arguments(command_queue, num_sema_objects, sema_objects,
                                                           num_events_in_wait_list, event_wait_list);
  give_event(Semaphore::enqueue_signal(*arguments.queue, arguments.semaphores, arguments.waits), event);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clGetSemaphoreInfoKHR(cl_semaphore_khr sema_object, cl_semaphore_info_khr param_name,
                                         size_t param_value_size, void* param_value,
                                         size_t* param_value_size_ret) try {
  const Ref<Semaphore> object = get<Semaphore>(sema_object);
  const InfoWriter write(param_value_size, param_value, param_value_size_ret);
  switch (param_name) {
    case CL_SEMAPHORE_CONTEXT_KHR:
      write(static_cast<cl_context>(object->context().get()));
      break;
    case CL_SEMAPHORE_REFERENCE_COUNT_KHR:
      write(object->api_references());
      break;
    case CL_SEMAPHORE_PROPERTIES_KHR:
      write(object->properties());
      break;
    case CL_SEMAPHORE_TYPE_KHR:
      write(cl_semaphore_type_khr{CL_SEMAPHORE_TYPE_BINARY_KHR});
      break;
    case CL_SEMAPHORE_PAYLOAD_KHR:
      write(cl_semaphore_payload_khr{object->signaled()});
      break;
    case kSemaphoreDevices:
      write(static_cast<cl_device_id>(object->device().get()));
      break;
    default:
      throw unknown_param(param_name);
  }
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clRetainSemaphoreKHR(cl_semaphore_khr sema_object) try {
  get<Semaphore>(sema_object)->retain();
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clReleaseSemaphoreKHR(cl_semaphore_khr sema_object) try {
  get<Semaphore>(sema_object)->release();
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clGetSemaphoreHandleForTypeKHR(cl_semaphore_khr sema_object, cl_device_id device,
                                                  cl_external_semaphore_handle_type_khr handle_type,
                                                  size_t /*handle_size*/, void* /*handle_ptr*/,
                                                  size_t* /*handle_size_ret*/) try {
  const Ref<Semaphore> object = get<Semaphore>(sema_object);
  require(object->device() == get<Device>(device), CL_INVALID_DEVICE,
          "the semaphore belongs to another device");
  throw Error(CL_INVALID_VALUE, "handle_type is ", Hex{handle_type},
              "; the semaphore was created without handle types, since cl_khr_external_semaphore is absent");
}
CLIQUE_CATCH_STATUS

}  // namespace clique::icd::api
