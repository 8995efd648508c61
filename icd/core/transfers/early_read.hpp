#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "icd/core/events/event.hpp"
#include "icd/remote/link.hpp"
#include "protocol/messages.hpp"

namespace clique::icd {

/// A read of a few bytes that is over as soon as they are there: the device itself leaves them in memory that
/// the worker shares with this process (ReadBuffer::early), and whoever waits for them need not wait for the
/// worker to notice, and to report it. The report comes later, and ends the event.
class EarlyRead {
 public:
  static constexpr bool fits(std::size_t size) { return size > 0 && size <= kMost && size % kUnit == 0; }
  /// For a size that fits(). Null where there is no room.
  static std::shared_ptr<EarlyRead> make(const Link& link, std::size_t size);

  /// For ReadBuffer.
  std::uint64_t end() const { return block_.offset + count_ * sizeof(protocol::EarlyUnit); }
  /// Waits for the data, or for the event's end. @returns whether it was the data, which then is at `to`; the
  /// event may end later. One thread, once.
  bool wait(Event& event, void* to);
  /// For who has the data in another way: whether it is still to be put into the application's memory. Any
  /// thread.
  bool claim() { return !claimed_.exchange(true); }

 private:
  /// What comes no later in units than without them, and is read from them in no time.
  static constexpr std::size_t kMost = 256;
  static constexpr std::size_t kUnit = sizeof(protocol::EarlyUnit::data);

  EarlyRead(Link::SharedBlock block, std::size_t count);
  /// The number of units, from the first one on, that are there.
  std::size_t count_there(std::size_t from) const;

  const Link::SharedBlock block_;
  protocol::EarlyUnit* const units_;  // in the block
  const std::size_t count_;
  std::atomic<bool> claimed_ = false;
};

}  // namespace clique::icd
