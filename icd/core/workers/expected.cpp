#include "icd/core/workers/expected.hpp"

#include <mutex>

namespace clique::icd {

void HostRange::fill(std::byte* to, std::span<const std::byte> from, Through through) {
  const std::shared_lock lock(mutex_);
  if (!closed_) copy(to, from.data(), from.size(), through);
}

void HostRange::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
}

}  // namespace clique::icd
