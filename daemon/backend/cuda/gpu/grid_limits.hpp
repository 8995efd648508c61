#pragma once

#include <array>
#include <cstdint>

namespace clique::daemon::cuda {

/// What the GPU can launch.
struct GridLimits {
  std::array<std::uint32_t, 3> groups{0x7FFFFFFF, 65535, 65535};  ///< in one grid
  std::array<std::uint32_t, 3> items{1024, 1024, 64};             ///< in one group, by dimension
};

}  // namespace clique::daemon::cuda
