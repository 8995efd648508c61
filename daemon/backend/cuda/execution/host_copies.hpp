#pragma once

#include <cstddef>
#include <cstdint>

#include "daemon/backend/cuda/execution/ptx_kernel.hpp"

namespace clique::daemon::cuda {

/// Copies with a kernel. CUDA documents its own calls between two places in host memory as synchronous: the
/// calling thread would wait for everything in the stream. And a few bytes reach the GPU's memory sooner this
/// way, if kernels use them: these follow at once, and need not wait for the copy engine.
class HostCopies {
 public:
  explicit HostCopies(const Capture& capture);

  /// Loads the kernel. From then on is_faster() may be true; if the driver refuses, it never is. Any thread
  /// whose current context is the GPU's.
  void load();
  /// Whether the kernel brings these bytes to the GPU's memory sooner than the copy engine. Any thread.
  bool is_faster(CUdeviceptr to, CUdeviceptr from, std::uint64_t size) const {
    return size <= kFew && (to | from) % kWide == 0 && kernel_.loaded();
  }

  /// Puts a copy into the stream. Each place is pinned or in the GPU's memory, and they do not overlap. Main
  /// thread. Throws ClError.
  void copy(CUdeviceptr to, CUdeviceptr from, std::uint64_t size, CUstream stream);

 private:
  static constexpr std::uint64_t kFew = 16384;
  /// Bytes that a thread copies at a time, if both places are multiples of it.
  static constexpr std::uint64_t kWide = 16;

  PtxKernel kernel_;
};

/// The address of pinned host memory on a GPU on which that can be the memory of buffers.
inline CUdeviceptr on_gpu(const std::byte* pinned) {
  return reinterpret_cast<CUdeviceptr>(pinned);
}

}  // namespace clique::daemon::cuda
