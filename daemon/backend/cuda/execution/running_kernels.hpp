#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "daemon/backend/cuda/execution/stream.hpp"

namespace clique::daemon::cuda {

/// Whether a kernel that is submitted now would have to wait for those of other streams, which may occupy the
/// whole GPU. Short ones are not worth avoiding: a stream whose last kernels all ended soon is expected to go
/// on like that. Main thread.
class RunningKernels {
 public:
  using Clock = std::chrono::steady_clock;

  /// @param now what time it is
  explicit RunningKernels(std::function<Clock::time_point()> now = Clock::now) : now_(std::move(now)) {}

  /// A kernel is submitted to the stream, which has this number.
  void submitted(Stream& stream, std::uint32_t sequence);
  /// From now on, the stream gets kernels of another queue.
  static void forget(Stream& stream) { stream.short_kernels_ = 0; }
  /// Whether streams besides this one may be running kernels that are not expected to end soon.
  bool block(const Stream& stream);

 private:
  const std::function<Clock::time_point()> now_;
  std::vector<Stream*> streams_;  // those whose kernels were not seen to end
};

}  // namespace clique::daemon::cuda
