#include "icd/core/events/event_order.hpp"

#include <algorithm>
#include <utility>

#include "icd/core/events/event.hpp"

namespace clique::icd {

EventOrder::~EventOrder() = default;

void EventOrder::set_gates(std::vector<Ref<Event>> gates) {
  gates_ = std::move(gates);
}

void EventOrder::follow(std::vector<Ref<Event>> earlier) {
  follows_ = !earlier.empty();
  followed_ = std::move(earlier);
}

std::vector<Ref<Event>> EventOrder::followed() const {
  if (!follows_) return {};
  const std::lock_guard lock(mutex_);
  return followed_;
}

bool EventOrder::follows_pending() const {
  if (!follows_) return false;
  const std::lock_guard lock(mutex_);
  return std::any_of(followed_.begin(), followed_.end(),
                     [](const Ref<Event>& event) { return !event->ended(); });
}

std::vector<Ref<Event>> EventOrder::take_followed() {
  if (!follows_) return {};
  const std::lock_guard lock(mutex_);
  return std::exchange(followed_, {});
}

void EventOrder::set_parts(std::vector<Ref<Event>> parts) {
  parts_ = std::move(parts);
}

void EventOrder::set_launch_parts(const Ref<Event>& turn, std::vector<Ref<Event>> parts) {
  turn_ = turn;
  parts_ = std::move(parts);
}

EventProgress::Times EventOrder::times_with_parts(const EventProgress::Times& times) {
  if (!turn_) return times;
  marker_end_ = times[3];
  EventProgress::Times result{turn_->times()[0], turn_->times()[1], 0, 0};
  for (const Ref<Event>& part : parts_) {
    const auto& own = part->times();
    if (own[2] != 0 && (result[2] == 0 || own[2] < result[2])) result[2] = own[2];
    result[3] = std::max(result[3], own[3]);
  }
  // The first part may begin while other members still run the launch before.
  result[2] = std::max(result[2], turn_->times()[3]);
  if (result[3] == 0) result[3] = times[3];
  result[3] = std::max(result[2], result[3]);
  return result;
}

cl_int EventOrder::status_with_parts(cl_int status) {
  turn_ = nullptr;
  // The worker reports a command whose part has failed with a status that does not say why.
  for (const Ref<Event>& part : std::exchange(parts_, {}))
    if (part->status() < 0) return part->status();
  return status;
}

}  // namespace clique::icd
