#pragma once

#include <mutex>
#include <vector>

#include "daemon/backend/cuda/gpu/driver.hpp"

namespace clique::daemon::cuda {

/// CUDA events that are used again and again. They live as long as the context. Any thread.
class EventPool {
 public:
  /// @param flags of cuEventCreate
  explicit EventPool(unsigned flags) : flags_(flags) {}

  /// An event that nobody else has. Throws ClError if there is none and none can be created.
  CUevent take();
  void give_back(CUevent event);

 private:
  const unsigned flags_;
  std::mutex mutex_;
  std::vector<CUevent> free_;
};

}  // namespace clique::daemon::cuda
