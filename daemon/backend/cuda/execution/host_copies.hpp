#pragma once

#include <cstddef>
#include <cstdint>

#include "daemon/backend/cuda/execution/ptx_kernel.hpp"

namespace clique::daemon::cuda {

/// Copies between two places in host memory, with a kernel. CUDA documents its own calls for this as
/// synchronous: the calling thread would wait for everything in the stream.
class HostCopies {
 public:
  explicit HostCopies(const Capture& capture);

  /// Puts a copy into the stream. Both places are pinned, and do not overlap. Main thread. Throws ClError.
  void copy(CUdeviceptr to, CUdeviceptr from, std::uint64_t size, CUstream stream);

 private:
  PtxKernel kernel_;
};

/// The address of pinned host memory on a GPU on which that can be the memory of buffers.
inline CUdeviceptr on_gpu(const std::byte* pinned) {
  return reinterpret_cast<CUdeviceptr>(pinned);
}

}  // namespace clique::daemon::cuda
