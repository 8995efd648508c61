#include "daemon/backend/opencl/event_watcher.hpp"

namespace clique::daemon::opencl {

void EventWatcher::watch(const Handle<cl_event>& event, Action action) {
  auto* record = new Record{this, event, std::move(action)};
  {
    const std::lock_guard lock(mutex_);
    record->previous = head_.previous;
    record->next = &head_;
    record->previous->next = record->next->previous = record;
  }
  const cl_int error = clSetEventCallback(event.get(), CL_COMPLETE, called, record);
  if (error == CL_SUCCESS) return;
  if (const Action orphan = take(*record)) orphan(error);
  delete record;
}

void CL_CALLBACK EventWatcher::called(cl_event event, cl_int status, void* data) {
  auto* record = static_cast<Record*>(data);
  // Some drivers call back with CL_COMPLETE for events that have failed.
  if (status == CL_COMPLETE) status = status_of(event);
  if (const Action action = record->watcher->take(*record)) action(status < 0 ? status : CL_COMPLETE);
  delete record;
}

EventWatcher::Action EventWatcher::take(Record& record) {
  const std::lock_guard lock(mutex_);
  if (record.next != nullptr) {
    record.previous->next = record.next;
    record.next->previous = record.previous;
    record.previous = record.next = nullptr;
  }
  return std::exchange(record.action, nullptr);
}

void EventWatcher::sweep() {
  std::vector<std::pair<Action, cl_int>> failed;
  {
    const std::lock_guard lock(mutex_);
    for (Record* record = head_.next; record != &head_;) {
      Record* next = record->next;
      const cl_int status = status_of(record->event.get());
      if (status < 0) {
        record->previous->next = record->next;
        record->next->previous = record->previous;
        record->previous = record->next = nullptr;
        // The record itself stays, since the driver may still call back.
        failed.emplace_back(std::exchange(record->action, nullptr), status);
      }
      record = next;
    }
  }
  for (const auto& [action, status] : failed) action(status);
}

}  // namespace clique::daemon::opencl
