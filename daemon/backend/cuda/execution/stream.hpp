#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "daemon/backend/cuda/execution/task.hpp"

namespace clique::daemon::cuda {

/// A CUDA stream with its progress word: host memory to which the GPU writes the sequence number that the
/// stream has reached.
class Stream {
 public:
  /// @param word in pinned host memory, 0
  /// @param address of the word on the GPU
  Stream(unsigned index, const std::uint32_t* word, CUdeviceptr address);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  CUstream native() const { return native_; }
  /// Whether the stream has reached the sequence number. Any thread.
  bool reached(std::uint32_t sequence) const {
    return static_cast<std::int32_t>(__atomic_load_n(word_, __ATOMIC_ACQUIRE) - sequence) >= 0;
  }

 private:
  friend class Scheduler;
  friend class Completions;
  friend class RunningKernels;

  const unsigned index_;
  const std::uint32_t* const word_;
  const CUdeviceptr address_;
  CUstream native_ = nullptr;

  // Main thread.
  std::uint32_t issued_ = 0;       // the last number that the stream was told to write
  std::vector<TaskRef> unmarked_;  // submitted tasks; the next number says that they have ended
  const Task* last_ = nullptr;     // the task submitted last
  std::uint32_t last_kernel_ = 0;  // sequence number of the last kernel
  bool runs_kernels_ = false;      // as far as the RunningKernels know
  std::chrono::steady_clock::time_point kernels_since_;
  unsigned short_kernels_ = 0;               // how often in a row the kernels were seen to end soon
  std::shared_ptr<Sighting> last_sighting_;  // of the last observed task
  std::vector<std::uint32_t> seen_;  // by index of another stream: the highest number waited for there

  // Guarded by a mutex of the Completions.
  std::deque<TaskRef> pending_;
  bool active_ = false;
  std::optional<std::uint32_t> running_;  // with a KernelLimit: number of the kernel that may be running
  std::chrono::steady_clock::time_point running_since_;
};

}  // namespace clique::daemon::cuda
