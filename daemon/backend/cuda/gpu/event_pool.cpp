#include "daemon/backend/cuda/gpu/event_pool.hpp"

namespace clique::daemon::cuda {

CUevent EventPool::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      CUevent event = free_.back();
      free_.pop_back();
      return event;
    }
  }
  CUevent event = nullptr;
  CLIQUE_CUDA(EventCreate(&event, flags_));
  return event;
}

void EventPool::give_back(CUevent event) {
  const std::lock_guard lock(mutex_);
  free_.push_back(event);
}

}  // namespace clique::daemon::cuda
