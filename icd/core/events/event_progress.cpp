#include "icd/core/events/event_progress.hpp"

#include <algorithm>

namespace clique::icd {

EventProgress::Due EventProgress::advance(cl_int status, const Times& times) {
  Due due;
  const std::lock_guard lock(mutex_);
  if (ended() || status >= this->status()) return due;
  due.changed = true;
  times_ = times;
  status_.store(status, std::memory_order_release);
  const auto waiting =
      std::stable_partition(callbacks_.begin(), callbacks_.end(),
                            [&](const Registered& registered) { return registered.state < status; });
  due.callbacks.assign(waiting, callbacks_.end());
  callbacks_.erase(waiting, callbacks_.end());
  if (status <= CL_COMPLETE) {
    due.actions.swap(actions_);
    due.kept.swap(kept_);
  }
  changed_.notify_all();
  return due;
}

bool EventProgress::add(const Registered& registered) {
  const std::lock_guard lock(mutex_);
  if (status() <= registered.state) return false;
  callbacks_.push_back(registered);
  return true;
}

bool EventProgress::add(Action& action) {
  const std::lock_guard lock(mutex_);
  if (ended()) return false;
  actions_.push_back(std::move(action));
  return true;
}

void EventProgress::keep(Ref<RefCounted> object) {
  const std::lock_guard lock(mutex_);
  if (!ended()) kept_.push_back(std::move(object));
}

void EventProgress::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return ended(); });
}

EventProgress::Times times_since(std::uint64_t enqueued, const EventProgress::Times& measured) {
  using P = EventProgress;
  if (enqueued == 0 || measured[P::kEnd] == 0) return measured;
  // The estimate of another host's clock may be off by a part of a round trip. START and END keep their
  // distances, within a command and between commands.
  const std::uint64_t queued = std::min(enqueued, measured[P::kStart]);
  const std::uint64_t submitted = std::clamp(measured[P::kQueued], queued, measured[P::kStart]);
  return {queued, submitted, measured[P::kStart], measured[P::kEnd]};
}

}  // namespace clique::icd
