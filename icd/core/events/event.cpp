#include "icd/core/events/event.hpp"

#include <algorithm>
#include <utility>

#include "icd/core/commands/queue.hpp"
#include "icd/core/objects/context.hpp"
#include "icd/core/workers/worker.hpp"

namespace clique::icd {

Event::Event(Ref<Context> context, Ref<Queue> queue, Worker& worker, cl_command_type type, bool reported)
    : context_(std::move(context)),
      queue_(std::move(queue)),
      worker_(&worker),
      type_(type),
      reported_(reported),
      status_(CL_QUEUED) {}

Event::Event(Ref<Context> context) : context_(std::move(context)), status_(CL_SUBMITTED) {
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

void Event::advance(cl_int status, const Times& times) {
  const Ref<Event> keep(this);
  std::vector<Registered> due;
  std::vector<std::function<void(cl_int)>> actions;
  std::vector<Ref<RefCounted>> kept;
  std::vector<Ref<Event>> earlier;
  {
    const std::lock_guard lock(mutex_);
    if (ended() || status >= this->status()) return;
    times_ = times;
    status_.store(status, std::memory_order_release);
    const auto waiting =
        std::stable_partition(callbacks_.begin(), callbacks_.end(),
                              [&](const Registered& callback) { return callback.state < status; });
    due.assign(waiting, callbacks_.end());
    callbacks_.erase(waiting, callbacks_.end());
    if (status <= CL_COMPLETE) {
      actions.swap(actions_);
      kept.swap(kept_);
      earlier.swap(earlier_);
    }
    changed_.notify_all();
  }
  for (const auto& action : actions) action(status);
  for (const Registered& registered : due) {
    run(registered, status);
    --held_by_callbacks_;
    release();
  }
}

void Event::run(const Registered& registered, cl_int status) {
  registered.callback(this, status < 0 ? status : registered.state, registered.user_data);
}

void Event::settle(cl_int status) {
  // The callbacks run before the lock is taken again, so the event must not go away in between.
  const Ref<Event> keep(this);
  advance(status);
  const std::lock_guard lock(mutex_);
  for (Worker* consumer : announced_) consumer->link().post(protocol::SetRemote{id_, this->status()});
  // An Expect is known to its own worker by its id.
  if (worker_ != nullptr && !worker_->link().lost())
    worker_->link().post(protocol::SetRemote{id_, this->status()});
}

void Event::set_user_status(cl_int status) {
  {
    const std::lock_guard lock(mutex_);
    require(!ended() && !user_status_set_, CL_INVALID_OPERATION,
            "the status of this user event has been set before");
    user_status_set_ = true;
  }
  settle(status);
  context_->flush();
}

void Event::wait() {
  context_->flush();
  if (worker_ != nullptr) {
    // Those of other nodes come by other connections, which somebody has to receive from.
    for (const Ref<Event>& event : earlier()) event->wait();
    worker_->link().wait([this] { return ended(); });
    return;
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return ended(); });
}

void Event::wait_for(std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  if (worker_ != nullptr)
    worker_->link().wait([&] { return ended() || std::chrono::steady_clock::now() > deadline; });
}

void Event::add_callback(cl_int state, Callback callback, void* user_data) {
  cl_int now = CL_QUEUED;
  {
    const std::lock_guard lock(mutex_);
    now = status();
    if (now > state) {
      retain();
      ++held_by_callbacks_;
      callbacks_.push_back({state, callback, user_data});
    }
  }
  if (now <= state) {
    run({state, callback, user_data}, now);
  } else if (state > CL_COMPLETE) {
    watch();
  }
}

void Event::then(std::function<void(cl_int)> action) {
  {
    const std::lock_guard lock(mutex_);
    if (!ended()) {
      actions_.push_back(std::move(action));
      return;
    }
  }
  action(status());
}

void Event::follows(std::vector<Ref<Event>> earlier) {
  const std::lock_guard lock(mutex_);
  earlier_ = std::move(earlier);
}

bool Event::follows_others() {
  const auto before = earlier();
  return std::any_of(before.begin(), before.end(), [](const Ref<Event>& event) { return !event->ended(); });
}

std::vector<Ref<Event>> Event::earlier() {
  const std::lock_guard lock(mutex_);
  return earlier_;
}

void Event::end_in_turn(cl_int status, const Times& times) {
  const auto before = earlier();
  struct Turn {
    Ref<Event> event;
    cl_int status;
    Times times;
    std::atomic<std::size_t> left;
  };
  const std::shared_ptr<Turn> turn(new Turn{Ref<Event>(this), status, times, before.size() + 1});
  const auto one_ended = [turn](cl_int /*status*/) {
    if (--turn->left != 0) return;
    cl_int result = turn->status;
    // The node may have told the end before it knew that another one was lost with what it was yet to send.
    for (const Ref<Event>& part : std::exchange(turn->event->parts_, {}))
      if (result >= 0 && part->status() < 0) result = part->status();
    turn->event->advance(result, turn->times);
  };
  for (const Ref<Event>& event : before) event->then(one_ended);
  one_ended(status);
}

void Event::keep(Ref<RefCounted> object) {
  const std::lock_guard lock(mutex_);
  if (!ended()) kept_.push_back(std::move(object));
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
