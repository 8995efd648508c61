#pragma once

#include <array>
#include <cstddef>

#include "daemon/backend/cuda/gpu/driver.hpp"

namespace clique::daemon::cuda {

/// A region of an image or of linear memory, for copies.
struct Place {
  CUarray array = nullptr;  ///< or null
  CUdeviceptr device = 0;   ///< or 0
  std::byte* host = nullptr;
  std::array<std::size_t, 3> origin{};  ///< x in bytes, y, z; layers of arrays are z
  std::size_t row_pitch = 0;            ///< bytes; not of arrays
  std::size_t slice_pitch = 0;
};

/// Puts a copy into the stream. `region`: x in bytes, y, z. Throws ClError.
void copy(const Place& from, const Place& to, const std::array<std::size_t, 3>& region, CUstream stream);

}  // namespace clique::daemon::cuda
