#pragma once

#include <cstdint>
#include <span>

#include "daemon/backend/cuda/execution/ptx_kernel.hpp"

namespace clique::daemon::cuda {

/// Fills GPU memory with patterns: with the driver's own calls for patterns that repeat every 1, 2 or 4
/// bytes, else with a kernel.
class Filler {
 public:
  explicit Filler(const Capture& capture);

  /// Puts a fill of [address, address + size) into the stream. Main thread. Throws ClError.
  /// @param pattern has a power of two of bytes, at most 128, which divides `address` and `size`
  void fill(CUdeviceptr address, std::uint64_t size, std::span<const std::uint8_t> pattern, CUstream stream);

 private:
  PtxKernel kernel_;
};

}  // namespace clique::daemon::cuda
