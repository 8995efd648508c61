#include "icd/core/transfers/host_reads.hpp"

#include <algorithm>
#include <iterator>

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

void HostReads::add(std::span<const std::byte> memory, const Ref<Event>& event) {
  {
    const std::lock_guard lock(mutex_);
    ranges_.push_back({memory, event});
  }
  // The event keeps its context, to which this belongs.
  event->then([this](cl_int /*status*/) { forget_ended(); });
}

void HostReads::forget_ended() {
  std::vector<Range> taken;  // released after the lock
  const std::lock_guard lock(mutex_);
  const auto ended = std::partition(ranges_.begin(), ranges_.end(),
                                    [](const Range& range) { return !range.event->ended(); });
  taken.assign(std::make_move_iterator(ended), std::make_move_iterator(ranges_.end()));
  ranges_.erase(ended, ranges_.end());
}

std::vector<Ref<Event>> HostReads::pending(std::span<const std::byte> memory) {
  std::vector<Ref<Event>> events;
  const std::lock_guard lock(mutex_);
  for (const Range& range : ranges_)
    if (range.overlaps(memory) && !range.event->ended()) events.push_back(range.event);
  return events;
}

}  // namespace clique::icd
