#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "icd/core/event.hpp"
#include "icd/remote/link.hpp"

namespace clique::icd {

/// A read of a few bytes that is over as soon as they are there: the device itself leaves them in memory that
/// the worker shares with this process (ReadBuffer::mark), and whoever waits for them need not wait for the
/// worker to notice, and to report it. The report comes later, and ends the event.
class EarlyRead {
 public:
  static constexpr bool fits(std::size_t size) { return size > 0 && size <= kMost && size % kUnit == 0; }
  /// For a size that fits(). Null where there is no room.
  static std::shared_ptr<EarlyRead> make(const Link& link, std::size_t size);

  /// For ReadBuffer.
  std::uint64_t mark() const { return block_.offset + size_; }
  /// Waits for the data, or for the event's end. @returns whether it was the data, which then is at `to`; the
  /// event ends later. One thread.
  bool wait(Event& event, void* to);
  /// For who has the data of the worker's report: whether it is still to be put into the application's
  /// memory. Any thread.
  bool claim() { return !claimed_.exchange(true); }

 private:
  /// What the device writes twice in less time than waiting takes.
  static constexpr std::size_t kMost = 256;
  static constexpr std::size_t kUnit = sizeof(std::uint32_t);

  EarlyRead(Link::SharedBlock block, std::size_t size) : block_(std::move(block)), size_(size) {}
  std::uint32_t& word() const { return *reinterpret_cast<std::uint32_t*>(block_.bytes.get() + size_); }

  const Link::SharedBlock block_;
  const std::size_t size_;
  std::atomic<bool> claimed_ = false;
};

}  // namespace clique::icd
