#pragma once

#include <memory>

#include "daemon/backend/cuda/gpu/device.hpp"

namespace clique::daemon::cuda {

/// `size`, rounded up to a multiple of `to`.
constexpr std::size_t rounded(std::size_t size, std::size_t to) {
  return (size + to - 1) / to * to;
}

/// Allocates the GPU's memory, for one session. Any thread whose current context is the GPU's.
class DeviceMemory {
 public:
  explicit DeviceMemory(const Device& device);

  /// Makes a first allocation, which is slow, before one is needed.
  void warm();
  /// At least `size` bytes, aligned to 256. They are freed when the last owner releases them; the GPU must
  /// not use them any more then. Throws ClError(CL_MEM_OBJECT_ALLOCATION_FAILURE).
  std::shared_ptr<const CUdeviceptr> take(std::uint64_t size);
  /// Like take(), but at the given address, for shared virtual memory. Also throws
  /// ClError(CL_MEM_OBJECT_ALLOCATION_FAILURE) if the address is in use or not possible.
  std::shared_ptr<const CUdeviceptr> take_at(CUdeviceptr address, std::uint64_t size) const;
  /// Bytes that map() maps at least; 0: the GPU cannot.
  std::size_t granularity() const { return granularity_; }
  /// Reserves addresses without memory, for map(). The caller gives them back with cuMemAddressFree. Throws
  /// ClError(CL_MEM_OBJECT_ALLOCATION_FAILURE).
  /// @param size a multiple of granularity()
  CUdeviceptr reserve(std::uint64_t size) const;
  /// Maps new memory at reserved addresses, where there is none. The caller unmaps it with cuMemUnmap, with
  /// the same arguments. Throws ClError(CL_MEM_OBJECT_ALLOCATION_FAILURE).
  /// @param size a multiple of granularity()
  void map(CUdeviceptr address, std::uint64_t size);
  /// Returns memory to the GPU that was freed and is kept for reuse.
  void trim();
  /// Copies data to newly allocated memory, and waits for the copy.
  std::shared_ptr<const CUdeviceptr> copy_of(const void* data, std::size_t size);

 private:
  class Placed;
  void give_back(CUdeviceptr address) const;

  const CUdevice device_;
  std::size_t granularity_ = 0;  // of memory at chosen addresses; 0: not possible

  CUmemoryPool pool_ = nullptr;  // null if the GPU has no memory pools
  CUstream stream_ = nullptr;    // orders allocations; every use waits for it
};

}  // namespace clique::daemon::cuda
