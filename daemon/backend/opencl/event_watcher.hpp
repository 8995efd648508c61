#pragma once

#include <functional>
#include <mutex>

#include "daemon/backend/opencl/native.hpp"

namespace clique::daemon::opencl {

/// Tells the end of native events. Any thread.
class EventWatcher {
 public:
  using Action = std::function<void(cl_int status)>;

  EventWatcher() { head_.next = head_.previous = &head_; }
  EventWatcher(const EventWatcher&) = delete;
  EventWatcher& operator=(const EventWatcher&) = delete;

  /// Has `action` called once with the event's final status, from whatever thread; perhaps at once. It runs
  /// inside the driver and must not touch other events than this.
  void watch(const Handle<cl_event>& event, Action action);

  /// Finds events that failed without a word: PoCL does not call back for them. Main thread.
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
  /// Takes the record's action for the one who calls it; none where it was taken before.
  Action take(Record& record);

  std::mutex mutex_;  // guards the list and the records' actions
  Record head_;       // of the list of records whose action was not called yet
};

/// A native event's execution status now.
inline cl_int status_of(cl_event event) {
  return get_value<cl_int>([event](std::size_t size, void* value, std::size_t* size_ret) {
    return clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, size, value, size_ret);
  });
}

}  // namespace clique::daemon::opencl
