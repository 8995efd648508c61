#pragma once

#include <cstdint>
#include <span>

#include "daemon/backend/cuda/execution/launches.hpp"

namespace clique::daemon::cuda {

/// Fills GPU memory with patterns.
class Filler {
 public:
  /// Puts into the stream that [address, address + size) is filled with the pattern, whose size is a power of
  /// two up to 128 and divides `size`, and to which `address` is aligned. Main thread. Throws ClError.
  /// @param prepare as of Launches
  void fill(CUdeviceptr address, std::uint64_t size, std::span<const std::uint8_t> pattern, CUstream stream,
            bool prepare);

 private:
  void load();
  CUfunction kernel_ = nullptr;  // once needed
  Launches launches_;
};

}  // namespace clique::daemon::cuda
