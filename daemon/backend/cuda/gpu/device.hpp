#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/backend/cuda/gpu/driver.hpp"
#include "daemon/backend/cuda/gpu/grid_limits.hpp"

namespace clique::daemon::cuda {

/// A GPU.
struct Device {
  CUdevice native = 0;
  CUcontext context = nullptr;    ///< its primary context; null: it is not open
  unsigned major = 0, minor = 0;  ///< compute capability
  GridLimits limits;
  std::uint32_t most_local = 0;  ///< bytes of local memory that a work-group can use
  bool pooled = false;           ///< has memory pools
  bool placeable = false;        ///< can map memory at an address that the caller chooses

  bool mps = false;  ///< runs kernels of several processes at the same time, by NVIDIA's MPS

  int attribute(CUdevice_attribute name) const;
  /// The compiler's name of its architecture, such as "sm_90".
  std::string architecture() const;
};

/// Opens the driver, and looks up a GPU without opening it, which takes neither time nor memory of the GPU.
/// Throws std::runtime_error.
/// @param number in CUDA's order
Device find_device(std::uint32_t number);
/// As find_device(), and opens the GPU, and makes its context current.
Device open_device(std::uint32_t number);

/// The extensions of OpenCL C that programs for the GPU may use.
std::vector<std::string> language_extensions(const Device& device);

}  // namespace clique::daemon::cuda
