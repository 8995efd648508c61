#include "icd/core/transfers/host_reads.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "icd/core/events/event.hpp"

namespace clique::icd {

struct HostReads::Range {
  std::span<const std::byte> memory;
  Ref<Event> event;

  bool overlaps(std::span<const std::byte> other) const {
    return memory.data() < other.data() + other.size() && other.data() < memory.data() + memory.size();
  }
};

HostReads::HostReads() = default;
HostReads::~HostReads() = default;

std::vector<HostReads::Range> HostReads::take_ended() {
  const auto ended = std::partition(ranges_.begin(), ranges_.end(),
                                    [](const Range& range) { return !range.event->ended(); });
  std::vector<Range> taken(std::make_move_iterator(ended), std::make_move_iterator(ranges_.end()));
  ranges_.erase(ended, ranges_.end());
  return taken;
}

void HostReads::add(std::span<const std::byte> memory, Ref<Event> event) {
  std::vector<Range> ended;  // released after the lock
  const std::lock_guard lock(mutex_);
  ended = take_ended();
  ranges_.push_back({memory, std::move(event)});
}

std::vector<Ref<Event>> HostReads::pending(std::span<const std::byte> memory) {
  std::vector<Ref<Event>> events;
  std::vector<Range> ended;  // released after the lock
  const std::lock_guard lock(mutex_);
  ended = take_ended();
  for (const Range& range : ranges_)
    if (range.overlaps(memory)) events.push_back(range.event);
  return events;
}

}  // namespace clique::icd
