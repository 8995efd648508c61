#pragma once

#include <vector>

#include "daemon/common/control.hpp"

namespace clique::daemon::opencl {

struct Wanted {
  bool nvidia;  ///< NVIDIA's own OpenCL driver too
};

/// The OpenCL drivers that the ICD loader finds on this node, with their devices. Without Clique's own
/// platform.
std::vector<ListedPlatform> list_platforms(Wanted wanted);

}  // namespace clique::daemon::opencl
