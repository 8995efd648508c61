#pragma once

#include <memory>

#include "daemon/backend/cuda/gpu/device.hpp"

namespace clique::daemon::cuda {

/// The least multiple of `to` that is not below `size`.
constexpr std::size_t rounded(std::size_t size, std::size_t to) {
  return (size + to - 1) / to * to;
}

/// A GPU's memory, for one session. Any thread whose current context is the GPU's.
class DeviceMemory {
 public:
  explicit DeviceMemory(const Device& device);

  /// Does ahead what makes the first take() slow.
  void warm();
  /// At least `size` bytes, aligned to 256; nobody uses them any more when the last owner lets go.
  /// Throws ClError(CL_MEM_OBJECT_ALLOCATION_FAILURE).
  std::shared_ptr<const CUdeviceptr> take(std::uint64_t size);
  /// The same at this very address, for shared virtual memory. Throws
  /// ClError(CL_MEM_OBJECT_ALLOCATION_FAILURE) also where something is there already, or no memory can be.
  std::shared_ptr<const CUdeviceptr> take_at(CUdeviceptr address, std::uint64_t size) const;
  /// Gives what is kept for later back to the GPU.
  void trim();
  /// Copies to new memory, and waits until it is there.
  std::shared_ptr<const CUdeviceptr> copy_of(const void* data, std::size_t size);

 private:
  class Placed;
  void give_back(CUdeviceptr address) const;

  const CUdevice device_;
  std::size_t granularity_ = 0;  // of placed memory; 0: there can be none

  CUmemoryPool pool_ = nullptr;  // null where the GPU has none
  CUstream stream_ = nullptr;    // that allocations are ordered by: always waited for
};

}  // namespace clique::daemon::cuda
