#pragma once

#include <vector>

#include "daemon/common/control.hpp"

namespace clique::daemon::cuda {

/// The GPUs of this node. Each is a platform of its own, since each has its own worker. Empty if the driver
/// or clique-compiler is missing, which is logged.
std::vector<ListedPlatform> list_gpus();

}  // namespace clique::daemon::cuda
