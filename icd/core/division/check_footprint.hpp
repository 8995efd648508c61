// Checks of footprints, which come from nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "protocol/footprint.hpp"

namespace clique::icd {

/// Why a footprint of a node must not be used; empty: it is well-formed. What evaluates footprints needs
/// that.
std::string flaw_of(const protocol::Footprint& footprint, std::size_t argument_count);

/// Whether a number is computed from data, for people: see protocol::kFromData.
/// @param footprint well-formed
bool depends_on_data(const protocol::Footprint& footprint, std::uint32_t number);

}  // namespace clique::icd
