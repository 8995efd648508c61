#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "daemon/backend/cuda/execution/task.hpp"

namespace clique::daemon::cuda {

/// A stream, and a word of host memory in which it leaves how far it has come.
class Stream {
 public:
  /// @param word of pinned host memory, 0; `address` is the GPU's for it
  Stream(unsigned index, const std::uint32_t* word, CUdeviceptr address);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  CUstream native() const { return native_; }
  /// Whether the stream has come to the sequence number. Any thread.
  bool reached(std::uint32_t sequence) const {
    return static_cast<std::int32_t>(__atomic_load_n(word_, __ATOMIC_ACQUIRE) - sequence) >= 0;
  }

 private:
  friend class Scheduler;
  friend class Completions;

  const unsigned index_;
  const std::uint32_t* const word_;
  const CUdeviceptr address_;
  CUstream native_ = nullptr;

  // Main thread.
  std::uint32_t issued_ = 0;         // the last number that the stream was told to leave
  std::vector<TaskRef> unmarked_;    // tasks that the next number will tell ended
  const Task* last_ = nullptr;       // the latest submitted
  std::uint32_t last_kernel_ = 0;    // number of the latest that is a kernel
  std::vector<std::uint32_t> seen_;  // by the index of another stream: how far it has been waited for

  // Guarded by the Completions.
  std::deque<TaskRef> pending_;
  bool active_ = false;
  std::optional<std::uint32_t> running_;  // number of the kernel that nothing holds back, with a KernelLimit
  std::chrono::steady_clock::time_point running_since_;
};

}  // namespace clique::daemon::cuda
