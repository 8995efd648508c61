#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/backend/cuda/gpu/driver.hpp"
#include "daemon/backend/cuda/gpu/grid_limits.hpp"

namespace clique::daemon::cuda {

/// A GPU that was opened.
struct Device {
  CUdevice native = 0;
  CUcontext context = nullptr;    ///< its primary context
  unsigned major = 0, minor = 0;  ///< compute capability
  GridLimits limits;
  std::uint32_t most_local = 0;  ///< bytes of local memory that a work-group can have
  bool pooled = false;           ///< has memory pools
  bool placeable = false;        ///< can have memory at addresses of the caller's choice

  int attribute(CUdevice_attribute name) const;
  /// As the compiler names it: "sm_90".
  std::string architecture() const;
};

/// Opens the driver and the GPU of this number, and makes its context current. Throws std::runtime_error.
Device open_device(std::uint32_t number);

/// Extensions of OpenCL C that programs for the GPU may use.
std::vector<std::string> language_extensions(const Device& device);

}  // namespace clique::daemon::cuda
