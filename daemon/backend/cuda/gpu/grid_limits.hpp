#pragma once

#include <array>
#include <cstdint>

namespace clique::daemon::cuda {

/// Work-items that execute together.
inline constexpr std::uint32_t kWarp = 32;

/// How large a launch on the GPU can be.
struct GridLimits {
  std::array<std::uint32_t, 3> groups{0x7FFFFFFF, 65535, 65535};  ///< of one grid, by dimension
  std::array<std::uint32_t, 3> items{1024, 1024, 64};             ///< of one group, by dimension
};

}  // namespace clique::daemon::cuda
