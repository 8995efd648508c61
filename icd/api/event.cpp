// Sections 5.11, 5.12 and 5.14: events, waiting for them, and their times.
#include "icd/core/events/event.hpp"

#include "icd/api/boundary.hpp"
#include "icd/api/entry_points.hpp"
#include "icd/core/commands/queue.hpp"

namespace clique::icd::api {

cl_event CL_API_CALL clCreateUserEvent(cl_context context, cl_int* errcode_ret) try {
  return created(new Event(get<Context>(context)), errcode_ret);
}
CLIQUE_CATCH_ERRCODE(errcode_ret)

cl_int CL_API_CALL clSetUserEventStatus(cl_event event, cl_int execution_status) try {
  const Ref<Event> object = get<Event>(event);
  require(object->is_user(), CL_INVALID_EVENT, "the event was not created by clCreateUserEvent");
  require(execution_status <= CL_COMPLETE, CL_INVALID_VALUE, "execution_status is ", execution_status,
          "; allowed are CL_COMPLETE and negative values");
  object->set_user_status(execution_status);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clWaitForEvents(cl_uint num_events, const cl_event* event_list) try {
  require(num_events > 0 && event_list != nullptr, CL_INVALID_VALUE, "num_events is ", num_events,
          event_list == nullptr ? " and event_list is NULL" : "");
  const std::vector<Ref<Event>> events = get_all<Event>(event_list, num_events);
  for (const Ref<Event>& event : events)
    require(event->context() == events.front()->context(), CL_INVALID_CONTEXT,
            "the events belong to different contexts");
  // All nodes receive their commands before the first wait, so that they work at the same time.
  events.front()->context()->flush();
  bool failed = false;
  for (const Ref<Event>& event : events) {
    event->wait();
    failed = failed || event->status() < 0;
  }
  require(!failed, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, "a command in event_list failed");
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clGetEventInfo(cl_event event, cl_event_info param_name, size_t param_value_size,
                                  void* param_value, size_t* param_value_size_ret) try {
  const Ref<Event> object = get<Event>(event);
  const InfoWriter write(param_value_size, param_value, param_value_size_ret);
  switch (param_name) {
    case CL_EVENT_COMMAND_QUEUE:
      write(static_cast<cl_command_queue>(object->only_queue()));
      break;
    case CL_EVENT_CONTEXT:
      write(static_cast<cl_context>(object->context().get()));
      break;
    case CL_EVENT_COMMAND_TYPE:
      write(object->type());
      break;
    case CL_EVENT_COMMAND_EXECUTION_STATUS:
      object->watch();
      write(object->status());
      break;
    case CL_EVENT_REFERENCE_COUNT:
      write(object->api_references());
      break;
    default:
      throw unknown_param(param_name);
  }
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clRetainEvent(cl_event event) try {
  get<Event>(event)->retain();
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clReleaseEvent(cl_event event) try {
  get<Event>(event)->release();
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clSetEventCallback(cl_event event, cl_int command_exec_callback_type,
                                      Event::Callback pfn_notify, void* user_data) try {
  const Ref<Event> object = get<Event>(event);
  require(pfn_notify != nullptr, CL_INVALID_VALUE, "pfn_notify is NULL");
  require(command_exec_callback_type == CL_SUBMITTED || command_exec_callback_type == CL_RUNNING ||
              command_exec_callback_type == CL_COMPLETE,
          CL_INVALID_VALUE, "command_exec_callback_type is ", command_exec_callback_type,
          "; allowed are CL_SUBMITTED, CL_RUNNING and CL_COMPLETE");
  object->add_callback(command_exec_callback_type, pfn_notify, user_data);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clGetEventProfilingInfo(cl_event event, cl_profiling_info param_name,
                                           size_t param_value_size, void* param_value,
                                           size_t* param_value_size_ret) try {
  const Ref<Event> object = get<Event>(event);
  require(!object->is_user(), CL_PROFILING_INFO_NOT_AVAILABLE, "user events have no profiling information");
  require(object->profiled(), CL_PROFILING_INFO_NOT_AVAILABLE,
          "a queue of the command was created without CL_QUEUE_PROFILING_ENABLE");
  require(object->status() == CL_COMPLETE, CL_PROFILING_INFO_NOT_AVAILABLE, "the command's status is ",
          object->status(), ", not CL_COMPLETE");
  const InfoWriter write(param_value_size, param_value, param_value_size_ret);
  switch (param_name) {
    case CL_PROFILING_COMMAND_QUEUED:
      write(cl_ulong{object->times()[0]});
      break;
    case CL_PROFILING_COMMAND_SUBMIT:
      write(cl_ulong{object->times()[1]});
      break;
    case CL_PROFILING_COMMAND_START:
      write(cl_ulong{object->times()[2]});
      break;
    // Commands enqueue no further commands here, so they complete when they end.
    case CL_PROFILING_COMMAND_END:
    case CL_PROFILING_COMMAND_COMPLETE:
      write(cl_ulong{object->times()[3]});
      break;
    default:
      throw unknown_param(param_name);
  }
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

}  // namespace clique::icd::api
