#pragma once

#include <cstddef>
#include <mutex>
#include <span>
#include <vector>

#include "icd/common/object.hpp"

namespace clique::icd {

class Event;

/// The host memory that pending commands will fill. A write from such memory has to take what the earlier
/// commands put there, so it must not be sent before they have ended. Any thread.
class HostReads {
 public:
  HostReads();
  ~HostReads();

  /// Adds the memory that the command with this event fills, until the event has ended.
  void add(std::span<const std::byte> memory, const Ref<Event>& event);
  /// The events of the commands that have yet to fill a part of the memory.
  std::vector<Ref<Event>> pending(std::span<const std::byte> memory);

 private:
  struct Range;
  /// Removes the ranges whose commands have ended.
  void forget_ended();

  std::mutex mutex_;
  std::vector<Range> ranges_;
};

}  // namespace clique::icd
