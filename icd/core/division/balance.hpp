// Parts that take equally long, although work-groups or members may differ. Pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace clique::icd {

/// The first work-group of each part of a divided launch, and the end of the last part.
using Borders = std::vector<std::uint64_t>;

/// As many parts of about the same size.
/// @param unit borders are multiples of so many groups, except for the last one
/// @param parts at most as many as there are groups
Borders equal_borders(std::uint64_t groups, std::uint64_t unit, std::size_t parts);

/// Borders for later launches, from how long the parts of earlier ones took, as if all groups of a part took
/// equally long. Repeated with the times of the new parts, it converges.
/// @param times of the parts, in ns
/// @returns nothing if no part takes much longer than the others, or if no other borders would be better
Borders balanced_borders(const Borders& borders, std::uint64_t unit, std::span<const std::uint64_t> times);

}  // namespace clique::icd
