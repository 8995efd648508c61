#pragma once

#include <cstdint>

#include "daemon/backend/cuda/gpu/device.hpp"
#include "protocol/descriptions.hpp"
#include "protocol/messages/session.hpp"

namespace clique::daemon::cuda {

/// What clGetPlatformInfo and clGetDeviceInfo answer for the GPU. The caller sets `clock`.
protocol::Attached describe(const Device& device);

/// The same as a node's driver, whose id is the GPU's number. Does not open the GPU. Throws
/// std::runtime_error.
/// @param number in CUDA's order
protocol::Driver describe_gpu(std::uint32_t number);

}  // namespace clique::daemon::cuda
