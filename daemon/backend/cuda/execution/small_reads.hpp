#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "daemon/backend/cuda/execution/launches.hpp"
#include "protocol/messages.hpp"

namespace clique::daemon::cuda {

/// Reads of so few bytes that the commands take longer than the copy: a kernel does both, what a copy and
/// the word behind it do. It needs room among the other kernels, so it is for GPUs that run none; but not in
/// the copy engine, where it would come after all chunks of large transfers that are there.
class SmallReads {
 public:
  /// Makes the kernel ready. Any thread whose current context is the GPU's; reads are possible once it has
  /// been done.
  void load();
  bool fits(CUdeviceptr from, std::size_t size) const {
    return size != 0 && size <= kMost && (from | size) % kUnit == 0 &&
           kernel_.load(std::memory_order_acquire) != nullptr;
  }
  /// Puts into the stream that `size` bytes are copied to pinned memory, and then that the word becomes
  /// `number`. What fits() only. Main thread. Throws ClError.
  void read(std::byte* to, CUdeviceptr from, std::size_t size, CUdeviceptr word, std::uint32_t number,
            CUstream stream) {
    launch(to, from, size, word, number, stream, false);
  }
  /// The same to as many units as the size has.
  void read(protocol::EarlyUnit* to, CUdeviceptr from, std::size_t size, CUdeviceptr word,
            std::uint32_t number, CUstream stream) {
    launch(to, from, size, word, number, stream, true);
  }

 private:
  void launch(void* to, CUdeviceptr from, std::size_t size, CUdeviceptr word, std::uint32_t number,
              CUstream stream, bool units);

  /// Up to here it is faster on an H200.
  static constexpr std::size_t kMost = 4096;
  static constexpr std::size_t kUnit = sizeof(protocol::EarlyUnit::data);

  std::atomic<CUfunction> kernel_ = nullptr;
  Launches launches_;
};

}  // namespace clique::daemon::cuda
