#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "icd/common/object.hpp"
#include "icd/core/events/event_order.hpp"
#include "icd/core/events/event_progress.hpp"
#include "protocol/ids.hpp"

namespace clique::icd {

class Context;
class Queue;
class Worker;
struct Note;

/// OpenCL 3.0, section 5.11: the event of a command, or a user event, which has no worker. Its progress is
/// what the application sees; its order is what the library needs to know of it besides. Any thread.
class Event final : public Object<_cl_event, Kind::Event, CL_INVALID_EVENT> {
 public:
  using Callback = EventProgress::Callback;
  using Times = EventProgress::Times;

  /// The event of a command in a queue of the application.
  Event(Ref<Queue> queue, cl_command_type type, EventTraits traits = {});
  /// The event of a command of the library's own, such as a transfer, which the application never gets.
  Event(Ref<Context> context, Worker& worker, cl_command_type type, EventTraits traits = {});
  /// A user event.
  explicit Event(Ref<Context> context);
  ~Event() override;

  /// Names the event, and its command, on all workers.
  protocol::CommandId id() const { return id_; }
  cl_command_type type() const { return type_; }
  const Ref<Context>& context() const { return context_; }
  /// Null for user events and for commands of the library's own.
  const Ref<Queue>& queue() const { return queue_; }
  /// The worker that executes the command; null for a user event.
  Worker* worker() const { return worker_; }
  bool is_user() const { return worker_ == nullptr; }
  /// Whether it belongs to a command of the library's own.
  bool is_internal() const { return worker_ != nullptr && !queue_; }

  // For the application.

  /// The application's references, without those that stand for callbacks yet to run.
  cl_uint api_references() const { return Object::api_references() - held_by_callbacks_.load(); }
  /// CL_QUEUED … CL_COMPLETE, or a negative error.
  cl_int status() const { return progress_.status(); }
  /// Whether the command is complete or has failed.
  bool ended() const { return progress_.ended(); }
  /// Valid once the event has ended.
  const Times& times() const { return progress_.times(); }
  /// clSetUserEventStatus. Throws Error(CL_INVALID_OPERATION) if it was set before.
  void set_user_status(cl_int status);
  /// clSetEventCallback. The handle stays valid until the callback has run.
  void add_callback(cl_int state, Callback callback, void* user_data);
  /// Has the worker report when the command starts to run. For a caller that looks at the status.
  void watch();
  /// Flushes the workers of the context, then waits until the event has ended. Receives meanwhile.
  void wait();
  /// The same, but until the deadline at most, and without flushing. Not for user events.
  void wait_until(std::chrono::steady_clock::time_point deadline);
  /// Sends what is in the outboxes of all workers of the context.
  void flush() const;

  /// The command runs in several queues of the application, the event's own being one of them. To be called
  /// before the application has the event.
  /// @param profiling whether all of them measure times
  void set_several_queues(bool profiling) {
    several_queues_ = true;
    profiled_ = profiling;
  }
  /// CL_EVENT_COMMAND_QUEUE: null for a command of several queues.
  Queue* only_queue() const { return several_queues_ ? nullptr : queue_.get(); }
  /// Whether times() are for the application.
  bool profiled() const;

  /// The command gives the host content, which may not be what earlier commands of its in-order queue were to
  /// write: it fails if one of them has failed of which the application does not know. To be called before
  /// the command is posted.
  void set_follows_failures() { follows_failures_ = true; }
  /// The application does not get the event of this command in a queue: a failure is that of a command
  /// without one, which the next clFinish returns.
  void set_silent();

  // Completing it.

  /// Sets a new status, and calls the callbacks and actions that wait for it. Ignored unless the status is
  /// later than the current one.
  void advance(cl_int status, const Times& times = {});
  /// Ends the event with what its worker has reported, as soon as the events that it follows have ended. Does
  /// not wait.
  void end_in_order(cl_int status, const Times& times);
  /// Ends an event whose end only this process knows, and tells the workers that wait for it.
  void settle(cl_int status);

  // For the library.

  EventOrder& order() { return order_; }
  const EventOrder& order() const { return order_; }
  /// Calls action(status) when the event has ended, on the thread that learns of it; at once if it has.
  void then(EventProgress::Action action);
  /// Has the trace show the command when it has ended. To be called once, before the command is posted.
  void set_note(std::unique_ptr<Note> note);
  /// The command, for people.
  std::string text() const;
  /// Keeps an object alive until the event has ended.
  void keep(Ref<RefCounted> object) { progress_.keep(std::move(object)); }
  /// The id of a command's event, which stays valid on its worker as long as the result lives, also without
  /// this object: for a later command to wait for, without keeping context and queue. Not thread-safe.
  std::shared_ptr<const protocol::CommandId> hold_id();
  /// Makes the event known to a worker other than its own, so that commands there can wait for its id. Calls
  /// after the first one for a worker do nothing.
  void announce(Worker& consumer);

 private:
  void tell_if_silent(cl_int status);
  /// The status with which the event ends once those that it follows have ended.
  cl_int final_status(cl_int reported);

  protocol::CommandId id_ = next_id();
  Ref<Context> context_;
  Ref<Queue> queue_;
  Worker* worker_ = nullptr;
  cl_command_type type_ = CL_COMMAND_USER;
  EventOrder order_;
  EventProgress progress_;
  bool follows_failures_ = false;
  std::atomic<bool> silent_ = false;
  std::atomic<bool> told_ = false;  ///< whether the queue knows of the failure of a silent event
  bool several_queues_ = false;
  bool profiled_ = false;       ///< of a command of several queues
  std::uint64_t enqueued_ = 0;  ///< ns on this host's clock; 0 in queues without profiling
  std::atomic<cl_uint> held_by_callbacks_{0};
  std::shared_ptr<const protocol::CommandId> held_id_;
  std::unique_ptr<Note> note_;

  std::mutex mutex_;  // guards all below
  bool watched_ = false;
  bool user_status_set_ = false;
  std::vector<Worker*> announced_;
};

}  // namespace clique::icd
