#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "protocol/descriptions.hpp"

namespace clique::daemon {

/// Counts and limits the memory of a session's buffers and images on a worker's devices; WaitingData, that of
/// everything else. Any thread.
class MemoryBudget {
 public:
  /// Memory that was taken; it is given back when the last copy is destroyed.
  using Share = std::shared_ptr<const void>;

  /// @param limit bytes; 0: no limit
  explicit MemoryBudget(std::uint64_t limit);

  /// Lowers the limit, before anything is taken. @param limit bytes; 0 changes nothing
  void lower(std::uint64_t limit);
  /// Throws ClError(CL_MEM_OBJECT_ALLOCATION_FAILURE) when less than `size` bytes are left.
  Share take(std::uint64_t size);
  /// Lowers the memory sizes in the device's description to the limit.
  void restrict(protocol::DeviceDescription& device) const;
  /// Everything that has been taken is allocated: peak() counts it.
  void note_peak();
  /// Bytes that are taken now.
  std::uint64_t used() const { return used_->load(); }
  /// The most that was allocated at a time, in bytes.
  std::uint64_t peak() const { return peak_.load(); }

 private:
  std::uint64_t limit_;
  const std::shared_ptr<std::atomic<std::uint64_t>> used_;
  std::atomic<std::uint64_t> peak_{0};
};

}  // namespace clique::daemon
