// SPV_KHR_cooperative_matrix in programs in SPIR-V. The translators of the nodes do not know it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "protocol/payload.hpp"

namespace clique::daemon::compiler {

/// Rewrites a module that declares the capability CooperativeMatrixKHR into one without it. A matrix becomes
/// a vector of the components that a work-item of a sub-group of 32 holds, so that SPIR-V's instructions for
/// vectors do what those for matrices do component by component. Loads, stores and products become calls of
/// functions of the device library (daemon/compiler/library/cooperative_matrix.cl), which the module
/// imports. The types of matrices and the products are those of cl_clique_cooperative_matrix.
///
/// Specialization constants count with the values in the module. Only what concerns matrices is checked; any
/// other error in the module is left to the translator.
/// @param available whether the device has cl_clique_cooperative_matrix
/// @returns std::nullopt if the module does not declare the capability
/// Throws std::runtime_error if the module uses matrices in a way that the device does not support, or that
/// SPIR-V does not allow.
std::optional<protocol::Bytes> lower_cooperative_matrices(std::span<const std::uint8_t> module,
                                                          bool available);

}  // namespace clique::daemon::compiler
