#include "icd/core/commands/queue_order.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "icd/core/events/event.hpp"

namespace clique::icd {

namespace {

bool pending(const Ref<Event>& event) {
  return !event->ended();
}

bool contains(const std::vector<Ref<Event>>& events, const Ref<Event>& event) {
  return std::find(events.begin(), events.end(), event) != events.end();
}

/// Moves the events that have ended to `gone`.
void remove_ended(std::vector<Ref<Event>>& events, std::vector<Ref<Event>>& gone) {
  const auto ended = std::stable_partition(events.begin(), events.end(), pending);
  std::move(ended, events.end(), std::back_inserter(gone));
  events.erase(ended, events.end());
}

}  // namespace

std::vector<Ref<Event>> QueueOrder::gates_of(std::span<const Ref<Event>> waits, Place place) {
  std::vector<Ref<Event>> gates;
  const auto add = [&](const Ref<Event>& gate) {
    if (pending(gate) && !contains(gates, gate)) gates.push_back(gate);
  };
  for (const Ref<Event>& wait : waits) {
    if (wait->is_user()) add(wait);
    std::for_each(wait->order().gates().begin(), wait->order().gates().end(), add);
  }
  const std::lock_guard lock(mutex_);
  const auto& own = place.after_all || in_order_ ? gates_ : gates_of_all_;
  std::for_each(own.begin(), own.end(), add);
  return gates;
}

void QueueOrder::add_gates(const std::vector<Ref<Event>>& gates, Place place) {
  if (gates.empty()) return;
  std::vector<Ref<Event>> gone;  // released after the lock
  const auto add_to = [&](std::vector<Ref<Event>>& own) {
    remove_ended(own, gone);
    for (const Ref<Event>& gate : gates)
      if (!contains(own, gate)) own.push_back(gate);
  };
  const std::lock_guard lock(mutex_);
  add_to(gates_);
  if (place.before_all && !in_order_) add_to(gates_of_all_);
}

std::vector<Ref<Event>> QueueOrder::follow(std::vector<Ref<Event>> waits, const Ref<Event>& reported,
                                           Place place) {
  const bool after_all = place.after_all || in_order_;
  std::vector<Ref<Event>> gone;  // released after the lock
  const std::lock_guard lock(mutex_);
  const auto own = static_cast<std::ptrdiff_t>(waits.size());
  const auto& before = after_all ? followed_ : followed_by_all_;
  std::copy_if(before.begin(), before.end(), std::back_inserter(waits), pending);
  // A reported event that follows all of these stands for them.
  const bool stands = reported && !waits.empty();
  const std::vector<Ref<Event>> followed = stands ? std::vector{reported} : waits;
  if (after_all) {
    gone.swap(followed_);
    followed_ = followed;
  } else {
    followed_.insert(followed_.end(), followed.begin(), stands ? followed.end() : followed.begin() + own);
  }
  if (place.before_all && !in_order_) {
    std::move(followed_by_all_.begin(), followed_by_all_.end(), std::back_inserter(gone));
    followed_by_all_ = followed;
  }
  if (followed_.size() > many_followed_) {
    remove_ended(followed_, gone);
    many_followed_ = std::max(kLeastMany, 2 * followed_.size());
  }
  return waits;
}

bool QueueOrder::all_followed_ended() {
  const std::lock_guard lock(mutex_);
  return std::none_of(followed_.begin(), followed_.end(), pending);
}

void QueueOrder::continue_after(Ref<Event> late) {
  std::vector<Ref<Event>> followed{std::move(late)};  // then those before, which are released after the lock
  const std::lock_guard lock(mutex_);
  followed_.swap(followed);
}

std::vector<Ref<Event>> may_precede(std::vector<Ref<Event>> events, const std::vector<Ref<Event>>& gates) {
  std::erase_if(events, [&](const Ref<Event>& event) {
    const auto& own = event->order().gates();
    return std::any_of(own.begin(), own.end(),
                       [&](const Ref<Event>& gate) { return pending(gate) && !contains(gates, gate); });
  });
  return events;
}

}  // namespace clique::icd
