#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "protocol/messages.hpp"

namespace clique::daemon {

/// How much memory a session may have in its buffers and images on a worker's devices. Any thread.
class MemoryBudget {
 public:
  /// What was taken; given back when the last copy goes.
  using Share = std::shared_ptr<const void>;

  /// @param limit bytes; 0: none
  explicit MemoryBudget(std::uint64_t limit);

  /// Throws ClError(CL_MEM_OBJECT_ALLOCATION_FAILURE) where there is not so much left.
  Share take(std::uint64_t size);
  /// Has the device say that it has no more memory than that.
  void restrict(protocol::DeviceDescription& device) const;

 private:
  const std::uint64_t limit_;
  const std::shared_ptr<std::atomic<std::uint64_t>> used_;
};

}  // namespace clique::daemon
