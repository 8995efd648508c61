// How copies of a buffer that parts of a launch have changed by atomic operations are merged. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "icd/core/division/divide.hpp"

namespace clique::icd {

/// What each integer of a copy is before a part changes it, little endian: the neutral element of the
/// operation, so that a copy is in the end what its part has changed, whatever the buffer contains.
std::vector<std::byte> neutral_element(const MergedChange& merged);

/// The kernel of merging_source().
inline constexpr const char* kMergingKernel = "clique_merge";

/// OpenCL C of a kernel (buffer, copy) that changes each integer of the buffer by that of the copy with the
/// same index, which is the work-item's global id.
std::string merging_source(const MergedChange& merged);

}  // namespace clique::icd
