#pragma once

#include <functional>
#include <mutex>

#include "daemon/backend/opencl/native.hpp"

namespace clique::daemon::opencl {

/// Reports the end of native events. Any thread.
class EventWatcher {
 public:
  using Action = std::function<void(cl_int status)>;

  EventWatcher() { head_.next = head_.previous = &head_; }
  EventWatcher(const EventWatcher&) = delete;
  EventWatcher& operator=(const EventWatcher&) = delete;

  /// Has `action` called once with the event's final status, on any thread, possibly before watch() returns.
  /// It may run inside the driver, and must not use other events.
  void watch(const Handle<cl_event>& event, Action action);

  /// Finds events that have failed without a callback from the driver, as PoCL's do. Main thread.
  void sweep();

 private:
  struct Record {
    EventWatcher* watcher = nullptr;
    Handle<cl_event> event;
    Action action;
    Record* previous = nullptr;
    Record* next = nullptr;
  };
  static void CL_CALLBACK called(cl_event event, cl_int status, void* record);
  /// Takes the action out of the record, to be called once. Empty if it was taken before.
  Action take(Record& record);

  std::mutex mutex_;  // guards the list and the records' actions
  Record head_;       // of the list of records whose action has not been taken
};

/// The current execution status of a native event.
inline cl_int status_of(cl_event event) {
  return get_value<cl_int>([event](std::size_t size, void* value, std::size_t* size_ret) {
    return clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, size, value, size_ret);
  });
}

}  // namespace clique::daemon::opencl
