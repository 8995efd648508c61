#include "icd/core/transfers/host_reads.hpp"

#include <algorithm>
#include <iterator>

namespace clique::icd {

std::vector<HostReads::Range> HostReads::take_ended() {
  const auto ended = std::partition(ranges_.begin(), ranges_.end(),
                                    [](const Range& range) { return !range.event->ended(); });
  std::vector<Range> taken(std::make_move_iterator(ended), std::make_move_iterator(ranges_.end()));
  ranges_.erase(ended, ranges_.end());
  return taken;
}

void HostReads::add(const void* begin, std::size_t size, Ref<Event> event) {
  const auto* first = static_cast<const std::byte*>(begin);
  std::vector<Range> ended;  // let go of after the lock
  const std::lock_guard lock(mutex_);
  ended = take_ended();
  ranges_.push_back({first, first + size, std::move(event)});
}

std::vector<Ref<Event>> HostReads::pending(const void* begin, std::size_t size) {
  const auto* first = static_cast<const std::byte*>(begin);
  std::vector<Ref<Event>> events;
  std::vector<Range> ended;  // let go of after the lock
  const std::lock_guard lock(mutex_);
  ended = take_ended();
  for (const Range& range : ranges_)
    if (range.begin < first + size && first < range.end) events.push_back(range.event);
  return events;
}

}  // namespace clique::icd
