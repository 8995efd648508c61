#include "icd/core/host_reads.hpp"

namespace clique::icd {

void HostReads::add(const void* begin, std::size_t size, Ref<Event> event) {
  const auto* first = static_cast<const std::byte*>(begin);
  const std::lock_guard lock(mutex_);
  std::erase_if(ranges_, [](const Range& range) { return range.event->ended(); });
  ranges_.push_back({first, first + size, std::move(event)});
}

std::vector<Ref<Event>> HostReads::pending(const void* begin, std::size_t size) {
  const auto* first = static_cast<const std::byte*>(begin);
  std::vector<Ref<Event>> events;
  const std::lock_guard lock(mutex_);
  std::erase_if(ranges_, [](const Range& range) { return range.event->ended(); });
  for (const Range& range : ranges_)
    if (range.begin < first + size && first < range.end) events.push_back(range.event);
  return events;
}

}  // namespace clique::icd
