#pragma once

#include <array>
#include <cstddef>

#include "daemon/backend/cuda/gpu/driver.hpp"

namespace clique::daemon::cuda {

/// Where a copy begins in an image or in linear memory. One of `array`, `device` and `host` is set.
struct Place {
  CUarray array = nullptr;
  CUdeviceptr device = 0;
  std::byte* host = nullptr;
  std::array<std::size_t, 3> origin{};  ///< x in bytes, y, z; the layers of an array are z
  std::size_t row_pitch = 0;            ///< bytes; 0 for arrays
  std::size_t slice_pitch = 0;          ///< bytes; 0 for arrays
};

/// Puts a copy into the stream. Throws ClError.
/// @param region x in bytes, y, z
void copy(const Place& from, const Place& to, const std::array<std::size_t, 3>& region, CUstream stream);

}  // namespace clique::daemon::cuda
