#pragma once

#include "daemon/backend/cuda/gpu/device.hpp"
#include "protocol/messages/session.hpp"

namespace clique::daemon::cuda {

/// What clGetPlatformInfo and clGetDeviceInfo answer for the GPU. The caller sets `clock`.
protocol::Attached describe(const Device& device);

}  // namespace clique::daemon::cuda
