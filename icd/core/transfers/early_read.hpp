#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "protocol/messages/commands.hpp"

namespace clique::icd {

class Event;
class Link;

/// A blocking read that is over as soon as its data is there. The device itself leaves the data in memory
/// that the worker shares with this process (ReadBuffer::early and ReadBuffer::landing), so that the reading
/// thread need not wait for the worker to notice the end and to report it. The report comes later, and ends
/// the event.
class EarlyRead {
 public:
  /// Whether a read of `size` bytes can be early.
  static constexpr bool fits(std::size_t size) { return size > 0 && size <= kMost && size % kUnit == 0; }
  /// Whether a read of `size` bytes, which fits(), is worth the place for its data only if the device is a
  /// GPU: others leave no more than a few bytes there.
  static constexpr bool only_from_gpus(std::size_t size) { return size > kMostInUnits; }
  /// @param size fits().
  /// @returns null if the shared memory has no room.
  static std::shared_ptr<EarlyRead> make(const Link& link, std::size_t size);

  /// Tells the device where the data is to be.
  void announce(protocol::ReadBuffer& message) const;
  /// Waits for the data, or for the end of the event. To be called once.
  /// @returns whether it was the data. Then the data is at `to`, and the event may end later.
  bool wait(Event& event, void* to);
  /// For the thread that gets the data in another way: whether it still has to be copied to the application's
  /// memory. Any thread.
  bool claim() { return !claimed_.exchange(true); }

 private:
  /// Bytes up to which reading the units takes no longer than reading bytes and one flag.
  static constexpr std::size_t kMostInUnits = 256;
  /// Bytes up to which a GPU may leave data there itself.
  static constexpr std::size_t kMost = std::size_t{256} << 10;
  static constexpr std::size_t kUnit = sizeof(protocol::EarlyUnit::data);

  EarlyRead(std::shared_ptr<std::byte> memory, std::uint64_t offset, std::size_t size);
  /// Whether each unit has 4 bytes of the data. Otherwise there is one unit, behind the data.
  bool in_units() const { return !only_from_gpus(size_); }
  /// The bytes that a read of `size` bytes takes in memory_.
  static std::size_t place_size(std::size_t size);
  /// How many units have arrived, counted from the first one without a gap. Those before `from` have.
  std::size_t count_arrived(std::size_t from) const;

  const std::shared_ptr<std::byte> memory_;
  const std::uint64_t offset_;        // of memory_ in the shared memory, in bytes
  const std::size_t size_;            // of the data, in bytes
  const std::size_t count_;           // of units
  protocol::EarlyUnit* const units_;  // at the end of the place in memory_
  std::atomic<bool> claimed_ = false;
};

}  // namespace clique::icd
