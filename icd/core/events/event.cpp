#include "icd/core/events/event.hpp"

#include <algorithm>
#include <utility>

#include "icd/core/commands/queue.hpp"
#include "icd/core/objects/context.hpp"
#include "icd/core/tracing/note.hpp"
#include "icd/core/workers/worker.hpp"
#include "icd/remote/link/clock.hpp"
#include "icd/remote/link/link.hpp"
#include "icd/trace/trace.hpp"
#include "protocol/batch.hpp"
#include "protocol/messages.hpp"

namespace clique::icd {

namespace {

void call(Event& event, const EventProgress::Registered& registered, cl_int status) {
  registered.callback(&event, status < 0 ? status : registered.state, registered.user_data);
}

}  // namespace

Event::Event(Ref<Queue> queue, cl_command_type type, EventTraits traits)
    : context_(queue->context()),
      queue_(std::move(queue)),
      worker_(&queue_->worker()),
      type_(type),
      order_(traits),
      progress_(CL_QUEUED),
      enqueued_(queue_->profiling() ? static_cast<std::uint64_t>(now_ns()) : 0) {}

Event::Event(Ref<Context> context, Worker& worker, cl_command_type type, EventTraits traits)
    : context_(std::move(context)), worker_(&worker), type_(type), order_(traits), progress_(CL_QUEUED) {}

Event::Event(Ref<Context> context)
    : context_(std::move(context)), order_(EventTraits{}), progress_(CL_SUBMITTED) {
  context_->set_user_events();
}

Event::~Event() {
  if (worker_ != nullptr && !held_id_) worker_->release_event(id_);
  for (Worker* consumer : announced_) {
    consumer->forget_awaited(*this);
    consumer->release_event(id_);
  }
}

std::shared_ptr<const protocol::CommandId> Event::hold_id() {
  if (!held_id_)
    held_id_ = std::shared_ptr<const protocol::CommandId>(new protocol::CommandId(id_),
                                                          [worker = worker_](const protocol::CommandId* id) {
                                                            worker->release_event(*id);
                                                            delete id;
                                                          });
  return held_id_;
}

bool Event::profiled() const {
  return several_queues_ ? profiled_ : queue_ && queue_->profiling();
}

void Event::advance(cl_int status, const Times& times) {
  // A callback may release the last other reference.
  const Ref<Event> self(this);
  // The queue has to know of a failure before a clFinish that waits for this event returns. The second look
  // is for set_silent(), which another thread may call in between.
  if (!ended()) tell_if_silent(status);
  const EventProgress::Due due = progress_.advance(status, times);
  if (!due.changed) return;
  tell_if_silent(status);
  if (note_ && status <= CL_COMPLETE) show(*this, *note_);
  std::vector<Ref<Event>> followed;
  if (status <= CL_COMPLETE) followed = order_.take_followed();
  for (const auto& action : due.actions) action(status);
  for (const EventProgress::Registered& registered : due.callbacks) {
    call(*this, registered, status);
    --held_by_callbacks_;
    release();
  }
}

void Event::set_silent() {
  silent_ = true;
  tell_if_silent(status());
}

void Event::tell_if_silent(cl_int status) {
  if (status < 0 && silent_ && !told_.exchange(true)) queue_->failed_silently(status, id_);
}

cl_int Event::final_status(cl_int reported) {
  const cl_int status = order_.status_with_parts(reported);
  if (status != CL_COMPLETE || !follows_failures_) return status;
  const cl_int failure = queue_->take_silent_failure_before(id_);
  return failure < 0 ? failure : status;
}

void Event::end_in_order(cl_int status, const Times& times) {
  const auto followed = order_.followed();
  if (followed.empty()) {
    const Times all = times_since(enqueued_, order_.times_with_parts(times));
    advance(final_status(status), all);
    return;
  }
  struct Turn {
    Ref<Event> event;
    cl_int status;
    Times times;
    std::atomic<std::size_t> left;
  };
  const std::shared_ptr<Turn> turn(new Turn{Ref<Event>(this), status, times, followed.size() + 1});
  const auto one_ended = [turn](cl_int /*status*/) {
    if (--turn->left != 0) return;
    // The worker may have reported success before it knew that another one was lost, with data yet to send.
    EventOrder& order = turn->event->order_;
    const Times times = times_since(turn->event->enqueued_, order.times_with_parts(turn->times));
    turn->event->advance(turn->event->final_status(turn->status), times);
  };
  for (const Ref<Event>& event : followed) event->then(one_ended);
  one_ended(status);
}

void Event::settle(cl_int status) {
  // The callbacks of advance() may release the last other reference.
  const Ref<Event> self(this);
  advance(status);
  const std::lock_guard lock(mutex_);
  for (Worker* consumer : announced_) consumer->link().post(protocol::SetRemote{id_, this->status()});
  // The event's own worker knows the arrival of a transfer by this id, too.
  if (worker_ != nullptr && !worker_->link().lost())
    worker_->link().post(protocol::SetRemote{id_, this->status()});
}

void Event::set_user_status(cl_int status) {
  {
    const std::lock_guard lock(mutex_);
    require(!ended() && !user_status_set_, CL_INVALID_OPERATION,
            "the status of the user event has already been set");
    user_status_set_ = true;
  }
  settle(status);
  flush();
}

void Event::flush() const {
  context_->flush();
}

void Event::wait() {
  const trace::Wait waiting([this] { return text(); });
  flush();
  if (worker_ == nullptr) {
    progress_.wait();
    return;
  }
  // Reports of other nodes come through other connections, from which somebody has to receive.
  for (const Ref<Event>& event : order_.followed()) event->wait();
  worker_->link().wait([this] { return ended(); });
}

void Event::wait_until(std::chrono::steady_clock::time_point deadline) {
  if (worker_ != nullptr)
    worker_->link().wait([&] { return ended() || std::chrono::steady_clock::now() > deadline; });
}

void Event::add_callback(cl_int state, Callback callback, void* user_data) {
  const EventProgress::Registered registered{state, callback, user_data};
  retain();
  ++held_by_callbacks_;
  if (progress_.add(registered)) {
    if (state > CL_COMPLETE) watch();
    return;
  }
  call(*this, registered, status());
  --held_by_callbacks_;
  release();
}

void Event::then(EventProgress::Action action) {
  if (!progress_.add(action)) action(status());
}

void Event::set_note(std::unique_ptr<Note> note) {
  note_ = std::move(note);
}

std::string Event::text() const {
  if (is_user()) return "a user event";
  return (note_ ? note_->slice.name : command_text(type_)) + " on " + worker_->label();
}

void Event::watch() {
  if (worker_ == nullptr || ended()) return;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(watched_, true)) return;
  }
  worker_->link().post(protocol::WatchEvent{id_});
}

void Event::announce(Worker& consumer) {
  const std::lock_guard lock(mutex_);
  if (std::find(announced_.begin(), announced_.end(), &consumer) != announced_.end()) return;
  announced_.push_back(&consumer);
  consumer.note_awaited(*this);
  consumer.link().post(protocol::AwaitRemote{id_, context_->id()});
  if (ended()) {
    consumer.link().post(protocol::SetRemote{id_, status()});
  } else if (worker_ != nullptr) {
    worker_->connect_peer(consumer);
    worker_->link().post(protocol::NotifyPeer{id_, consumer.index()});
  }
}

}  // namespace clique::icd
