#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "icd/common/object.hpp"
#include "protocol/messages.hpp"

namespace clique::icd {

class Context;
class Queue;
class Worker;

/// A command's event, or a user event (no worker). Some events are never given out: coherence uses them to
/// order transfers.
class Event final : public Object<_cl_event, Kind::Event, CL_INVALID_EVENT> {
 public:
  using Callback = void(CL_CALLBACK*)(cl_event, cl_int, void*);
  using Times = std::array<std::uint64_t, 4>;

  /// A command's event. @param reported whether the worker tells how it goes on (Command::kReport).
  Event(Ref<Context> context, Ref<Queue> queue, Worker& worker, cl_command_type type, bool reported);
  /// A user event.
  explicit Event(Ref<Context> context);
  ~Event() override;

  protocol::CommandId id() const { return id_; }
  cl_command_type type() const { return type_; }
  const Ref<Context>& context() const { return context_; }
  const Ref<Queue>& queue() const { return queue_; }
  Worker* worker() const { return worker_; }
  bool is_user() const { return worker_ == nullptr; }

  /// The application's references, those not counted that callbacks yet to run stand for.
  cl_uint api_references() const { return Object::api_references() - held_by_callbacks_.load(); }

  /// CL_QUEUED … CL_COMPLETE, or negative.
  cl_int status() const { return status_.load(std::memory_order_acquire); }
  bool ended() const { return status() <= CL_COMPLETE; }
  /// CL_PROFILING_COMMAND_QUEUED, SUBMIT, START, END on this host's clock; valid once ended.
  const Times& times() const { return times_; }

  /// The event has a new state. Later states only; runs the callbacks that wait for it.
  void advance(cl_int status, const Times& times = {});
  /// The event ended, and nobody but the client knows: tells also the workers that wait for it.
  void settle(cl_int status);
  /// clSetUserEventStatus. Throws Error(CL_INVALID_OPERATION) where it was set before.
  void set_user_status(cl_int status);
  /// Waits until the event has ended. The workers of its context are flushed first.
  void wait();
  /// The same for at most `limit`.
  void wait_for(std::chrono::milliseconds limit);
  /// clSetEventCallback. The handle stays alive until the callback has run.
  void add_callback(cl_int state, Callback callback, void* user_data);
  /// For the library itself: calls action(status) once the event has ended, on the thread that learns of it,
  /// or now.
  void then(std::function<void(cl_int)> action);
  /// Commands that this one comes after, some of which are told by other nodes' connections: whoever sees
  /// this event ended has to find them ended, too. To be called before the command is posted.
  void follows(std::vector<Ref<Event>> earlier);
  /// Whether it follows any that have not ended.
  bool follows_others();
  /// advance() to the end, once what this event follows has ended. Does not wait.
  void end_in_turn(cl_int status, const Times& times);
  /// Its end may become known here after that of commands which come after it; they have to follow it. To be
  /// called before anybody else has the event.
  void set_late() { late_ = true; }
  /// What this one is made of: it fails where one of these does, whatever the node has told. All are among
  /// what it waits for. Before it can end.
  void set_parts(std::vector<Ref<Event>> parts) { parts_ = std::move(parts); }
  bool late() const { return late_; }
  /// Its device itself fills host memory, which may happen before the data of earlier commands is here. To be
  /// called before anybody else has the event.
  void set_direct() { direct_ = true; }
  bool direct() const { return direct_; }
  /// The user events, not set yet, that hold it back, directly or not. Before anybody else has the event.
  void set_gates(std::vector<Ref<Event>> gates) { gates_ = std::move(gates); }
  const std::vector<Ref<Event>>& gates() const { return gates_; }
  /// Keeps an object alive until the event has ended.
  void keep(Ref<RefCounted> object);
  /// Somebody looks at the status: have the worker tell when the command runs.
  void watch();
  /// The id, which its worker knows as long as the result lives, also where this object does not: for waiting
  /// without keeping context and queue. Of a command's event; for one thread.
  std::shared_ptr<const protocol::CommandId> hold_id();
  /// Makes this event known on a worker that it does not belong to, so that commands there can wait for its
  /// id. Once for each worker.
  void announce(Worker& consumer);

 private:
  struct Registered {
    cl_int state;
    Callback callback;
    void* user_data;
  };
  void run(const Registered& registered, cl_int status);
  std::vector<Ref<Event>> earlier();

  protocol::CommandId id_ = next_id();
  Ref<Context> context_;
  Ref<Queue> queue_;
  Worker* worker_ = nullptr;
  cl_command_type type_ = CL_COMMAND_USER;
  bool reported_ = true;
  bool late_ = false;
  bool direct_ = false;
  std::vector<Ref<Event>> parts_;
  std::vector<Ref<Event>> gates_;
  std::atomic<cl_int> status_;
  Times times_{};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool watched_ = false;
  bool user_status_set_ = false;
  std::vector<Registered> callbacks_;
  std::atomic<cl_uint> held_by_callbacks_{0};
  std::vector<std::function<void(cl_int)>> actions_;
  std::vector<Ref<RefCounted>> kept_;
  std::vector<Ref<Event>> earlier_;
  std::vector<Worker*> announced_;
  std::shared_ptr<const protocol::CommandId> held_id_;
};

}  // namespace clique::icd
