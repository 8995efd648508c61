// From OpenCL's ranges to CUDA's grids.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "daemon/backend/cuda/gpu/grid_limits.hpp"

namespace clique::daemon::cuda {

/// The range of clEnqueueNDRangeKernel; what lies beyond its dimensions is 0 or 1.
struct NdRange {
  std::uint32_t dimensions = 1;
  std::array<std::uint64_t, 3> offset{};
  std::array<std::uint64_t, 3> global{1, 1, 1};
  std::array<std::uint64_t, 3> local{1, 1, 1};

  /// Groups of a dimension, a partial one at its end included.
  std::uint64_t groups(std::size_t dimension) const {
    return global[dimension] / local[dimension] + (global[dimension] % local[dimension] != 0 ? 1 : 0);
  }
  bool uniform() const;
};

/// One launch.
struct Grid {
  std::array<std::uint32_t, 3> groups{};
  std::array<std::uint32_t, 3> items{};        ///< of each group
  std::array<std::uint64_t, 3> first_item{};   ///< global id of its first work-item
  std::array<std::uint32_t, 3> first_group{};  ///< group id of its first group
};

/// The grids that make up a range: one, and more where groups at the ends are partial or there are more
/// groups than one grid can have.
std::vector<Grid> split(const NdRange& range, const GridLimits& limits);

/// A size of work-groups for a range that has none.
/// @param most items of a group that the kernel can have
/// @param uniform only sizes that divide the range
std::array<std::uint64_t, 3> choose_local_size(const NdRange& range, std::uint32_t most, bool uniform,
                                               const GridLimits& limits);

}  // namespace clique::daemon::cuda
