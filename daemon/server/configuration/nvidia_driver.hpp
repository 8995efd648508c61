#pragma once

#include <cstdint>
#include <string>

namespace clique::daemon {

/// How the node's NVIDIA GPUs are used.
enum class NvidiaDriver : std::uint8_t {
  Cuda,   ///< through CUDA if the driver and clique-compiler allow it, otherwise as OpenCl
  OpenCl  ///< through NVIDIA's own OpenCL driver
};

/// "cuda" or "opencl". Throws std::invalid_argument.
NvidiaDriver parse_nvidia_driver(const std::string& text);

/// Has NVIDIA's own program make the device files that CUDA needs, if they are missing: CUDA's driver would
/// start it, but not in processes with walls.
void make_nvidia_devices(NvidiaDriver driver);

}  // namespace clique::daemon
