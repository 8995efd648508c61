#pragma once

#include <cstddef>
#include <cstdint>

#include "daemon/backend/cuda/execution/graph.hpp"
#include "daemon/backend/cuda/execution/launches.hpp"

namespace clique::daemon::cuda {

/// Copies between two places in host memory, with a kernel. CUDA documents its own calls for this as
/// synchronous: the calling thread would wait for everything in the stream.
class HostCopies {
 public:
  explicit HostCopies(const Capture& capture) : capture_(capture) {}

  /// Puts a copy into the stream. Both places are pinned, and do not overlap. Main thread. Throws ClError.
  void copy(CUdeviceptr to, CUdeviceptr from, std::uint64_t size, CUstream stream);

 private:
  void load();

  const Capture& capture_;
  CUfunction kernel_ = nullptr;  // null until it is first needed
  Launches launches_;
};

/// The address of pinned host memory on a GPU on which that can be the memory of buffers.
inline CUdeviceptr on_gpu(const std::byte* pinned) {
  return reinterpret_cast<CUdeviceptr>(pinned);
}

}  // namespace clique::daemon::cuda
