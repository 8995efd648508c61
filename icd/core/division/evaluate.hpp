// Which bytes the work-groups of a part of a launch use: evaluates a footprint for numbers that are known at
// the launch. Pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "icd/core/division/range_set.hpp"
#include "protocol/footprint.hpp"

namespace clique::icd {

/// The index space of a launch. Dimensions that it does not have are one work-item.
struct LaunchSpace {
  unsigned dimensions = 1;
  std::array<std::uint64_t, 3> offset{};
  std::array<std::uint64_t, 3> global{1, 1, 1};
  std::array<std::uint64_t, 3> local{1, 1, 1};

  std::uint64_t groups(unsigned dimension) const {
    return global[dimension] / local[dimension] + (global[dimension] % local[dimension] != 0 ? 1 : 0);
  }
};

/// The work-groups [begin, end) of each dimension.
struct GroupBox {
  std::array<std::uint64_t, 3> begin{};
  std::array<std::uint64_t, 3> end{};
};

/// The bytes given to clSetKernelArg for each argument; empty for those that are no values.
using ScalarArguments = std::span<const std::span<const std::byte>>;

/// How the pixels of an image lie in its content.
struct ImageLayout {
  unsigned dimensions = 1;       ///< coordinates, layers included
  std::uint64_t pixel_size = 0;  ///< bytes
  std::array<std::uint64_t, 3> extent{1, 1, 1};
  std::array<std::uint64_t, 3> pitch{};  ///< bytes from one pixel, row, slice to the next
};

/// A buffer or image for which accesses are evaluated.
struct AccessedObject {
  std::uint64_t size = 0;                 ///< bytes
  std::optional<ImageLayout> image = {};  ///< nothing: a buffer
};

/// The bytes that an access uses, or more, relative to the begin of the object. What lies outside of a buffer
/// is left out, since programs must not access that.
RangeSet bytes_of(const protocol::Footprint& footprint, const protocol::FootprintAccess& access,
                  ScalarArguments arguments, const LaunchSpace& space, const GroupBox& groups,
                  const AccessedObject& object);

}  // namespace clique::icd
