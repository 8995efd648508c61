#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "icd/core/events/event.hpp"

namespace clique::icd {

/// Host memory that commands under way will fill. A write from such memory takes what the commands before it
/// have put there, so it must not be sent before they have ended. Any thread.
class HostReads {
 public:
  /// The command with this event fills [begin, begin + size).
  void add(const void* begin, std::size_t size, Ref<Event> event);
  /// Events of the commands that are yet to fill a part of [begin, begin + size).
  std::vector<Ref<Event>> pending(const void* begin, std::size_t size);

 private:
  struct Range {
    const std::byte* begin;
    const std::byte* end;
    Ref<Event> event;
  };
  /// Takes those out whose commands have ended. Under the lock.
  std::vector<Range> take_ended();

  std::mutex mutex_;
  std::vector<Range> ranges_;
};

}  // namespace clique::icd
