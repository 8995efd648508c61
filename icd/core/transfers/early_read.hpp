#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "protocol/messages/commands.hpp"

namespace clique::icd {

class Event;
class Link;

/// A blocking read of a few bytes that is over as soon as they are there. The device itself leaves them in
/// memory that the worker shares with this process (ReadBuffer::early), so that the reading thread need not
/// wait for the worker to notice the end and to report it. The report comes later, and ends the event.
class EarlyRead {
 public:
  /// Whether a read of `size` bytes can be early.
  static constexpr bool fits(std::size_t size) { return size > 0 && size <= kMost && size % kUnit == 0; }
  /// @param size fits().
  /// @returns null if the shared memory has no room.
  static std::shared_ptr<EarlyRead> make(const Link& link, std::size_t size);

  /// The value of ReadBuffer::early.
  std::uint64_t end() const { return offset_ + count_ * sizeof(protocol::EarlyUnit); }
  /// Waits for the data, or for the end of the event. To be called once.
  /// @returns whether it was the data. Then the data is at `to`, and the event may end later.
  bool wait(Event& event, void* to);
  /// For the thread that gets the data in another way: whether it still has to be copied to the application's
  /// memory. Any thread.
  bool claim() { return !claimed_.exchange(true); }

 private:
  /// Bytes up to which reading the units takes no longer than without them.
  static constexpr std::size_t kMost = 256;
  static constexpr std::size_t kUnit = sizeof(protocol::EarlyUnit::data);

  EarlyRead(std::shared_ptr<std::byte> memory, std::uint64_t offset, std::size_t count);
  /// How many units have arrived, counted from the first one without a gap. Those before `from` have.
  std::size_t count_arrived(std::size_t from) const;

  const std::shared_ptr<std::byte> memory_;
  const std::uint64_t offset_;        // of memory_ in the shared memory, in bytes
  protocol::EarlyUnit* const units_;  // in memory_
  const std::size_t count_;
  std::atomic<bool> claimed_ = false;
};

}  // namespace clique::icd
