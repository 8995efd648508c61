#include "icd/core/objects/early_writes.hpp"

#include "icd/core/events/event.hpp"

namespace clique::icd {

std::optional<protocol::CommandId> EarlyWrites::add_queue(const Worker& worker) {
  const std::lock_guard gate(gate_);
  {
    const std::lock_guard lock(count_mutex_);
    ++queues_[&worker];
  }
  const auto last = last_.find(&worker);
  return last != last_.end() ? std::optional(*last->second) : std::nullopt;
}

void EarlyWrites::remove_queue(const Worker& worker) {
  const std::lock_guard lock(count_mutex_);
  --queues_[&worker];
}

std::unique_lock<std::mutex> EarlyWrites::only_queue(const Worker& worker) {
  std::unique_lock gate(gate_);
  const std::lock_guard lock(count_mutex_);
  return queues_[&worker] == 1 ? std::move(gate) : std::unique_lock<std::mutex>();
}

void EarlyWrites::add(const Worker& worker, Event& write) {
  last_[&worker] = write.hold_id();
}

}  // namespace clique::icd
