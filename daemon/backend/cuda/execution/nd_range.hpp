// How OpenCL's ranges become CUDA's grids.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "daemon/backend/cuda/gpu/grid_limits.hpp"
#include "protocol/messages/commands.hpp"

namespace clique::daemon::cuda {

/// The range of clEnqueueNDRangeKernel. In dimensions beyond `dimensions`, the offset is 0 and sizes are 1.
struct NdRange {
  std::uint32_t dimensions = 1;
  std::array<std::uint64_t, 3> offset{};
  std::array<std::uint64_t, 3> global{1, 1, 1};
  std::array<std::uint64_t, 3> local{1, 1, 1};
  /// What runs of it. Kernels see the whole range.
  protocol::LaunchPart part = {};

  /// The work-items that run in a dimension, counted from the offset: begin() to end().
  std::uint64_t begin(std::size_t dimension) const { return divided(dimension) ? part.begin : 0; }
  std::uint64_t end(std::size_t dimension) const { return divided(dimension) ? part.end : global[dimension]; }
  /// Number of work-groups in a dimension, including a partial one at the end.
  std::uint64_t groups(std::size_t dimension) const {
    return global[dimension] / local[dimension] + (global[dimension] % local[dimension] != 0 ? 1 : 0);
  }
  /// Whether no partial work-groups run.
  bool uniform() const;

 private:
  bool divided(std::size_t dimension) const { return !part.whole() && part.dimension == dimension; }
};

/// One launch.
struct Grid {
  std::array<std::uint32_t, 3> groups{};
  std::array<std::uint32_t, 3> items{};        ///< work-items of each group
  std::array<std::uint64_t, 3> first_item{};   ///< global id of the first work-item
  std::array<std::uint32_t, 3> first_group{};  ///< group id of the first group
};

/// The number of grids that split() makes of a range, which may be more than there is memory for; the largest
/// number if it is larger than that.
std::uint64_t count_grids(const NdRange& range, const GridLimits& limits);
/// The grids that make up a range: one, or more if there are partial groups at the ends, or more groups than
/// one grid can have.
std::vector<Grid> split(const NdRange& range, const GridLimits& limits);

/// Chooses a local size for a range that gives none. It suits the part that runs.
/// @param most work-items that a group of the kernel can have
/// @param uniform whether the local size must divide the global size
std::array<std::uint64_t, 3> choose_local_size(const NdRange& range, std::uint32_t most, bool uniform,
                                               const GridLimits& limits);

}  // namespace clique::daemon::cuda
