#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "daemon/backend/cuda/execution/graph.hpp"
#include "daemon/backend/cuda/execution/launches.hpp"

namespace clique::daemon::cuda {

/// A kernel of the worker's own, whose threads share out steps among them. Main thread, unless said
/// otherwise.
class PtxKernel {
 public:
  /// Threads of a work-group.
  static constexpr unsigned kThreads = 256;

  /// @param ptx contains the kernel; must outlive this object
  /// @param most_groups the largest number of work-groups
  PtxKernel(const Capture& capture, const char* ptx, const char* name, std::uint64_t most_groups)
      : capture_(capture), ptx_(ptx), name_(name), most_groups_(most_groups) {}

  /// Loads the kernel, which the first launch does otherwise. Throws ClError. Any thread whose current
  /// context is the GPU's.
  void load();
  /// Whether the kernel is loaded. Any thread.
  bool loaded() const { return kernel_.load(std::memory_order_acquire) != nullptr; }

  /// Puts a launch into the stream. Throws ClError.
  /// @param steps 1 or more; each thread takes one, and then further ones if there are more than threads
  /// @param parameters of the kernel, as it declares them
  void launch(std::uint64_t steps, std::span<std::uint8_t> parameters, CUstream stream);

 private:
  const Capture& capture_;
  const char* const ptx_;
  const char* const name_;
  const std::uint64_t most_groups_;
  std::atomic<CUfunction> kernel_ = nullptr;  // null until it is loaded
  Launches launches_;
};

}  // namespace clique::daemon::cuda
