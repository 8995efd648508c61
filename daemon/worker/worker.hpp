// The processes that the daemon starts of itself; control.hpp says what they tell.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "daemon/common/control.hpp"

namespace clique::daemon {

/// First and last port, or {0, 0}: any.
using PortRange = std::pair<std::uint16_t, std::uint16_t>;

struct WorkerOptions {
  int control_fd = -1;
  PlatformKind kind = PlatformKind::OpenCl;
  std::uint32_t platform = 0;          ///< ListedPlatform::index
  std::vector<std::uint32_t> devices;  ///< indices in the platform; empty: all
  std::string bind = "127.0.0.1";      ///< numeric address for the sockets, IPv6 without brackets
  PortRange ports{0, 0};
  std::chrono::seconds resume_timeout{0};  ///< how long a client may be away
  std::chrono::seconds kernel_timeout{0};  ///< Surroundings::kernel_limit
  std::uint64_t session_memory = 0;        ///< of Surroundings::memory
};

/// The options as the arguments of `cliqued worker`, without the control channel.
std::vector<std::string> worker_arguments(const WorkerOptions& options);

/// `cliqued worker`: runs one session on one driver of the node. Does not return: leaves the process at once,
/// however busy the driver's threads are.
[[noreturn]] void run_worker(const WorkerOptions& options);

/// `cliqued embedded`: one worker for each driver, for the process at the other end. @returns the exit
/// status.
int run_embedded(int control_fd);

/// How the node's NVIDIA GPUs are used.
enum class NvidiaDriver : std::uint8_t {
  Cuda,   ///< through CUDA, where that is possible, else as the other
  OpenCl  ///< through NVIDIA's own OpenCL driver
};
/// "cuda" or "opencl". Throws std::invalid_argument.
NvidiaDriver parse_nvidia_driver(const std::string& text);

/// `cliqued probe`: lists drivers and devices. @returns the exit status.
int run_probe(int control_fd, NvidiaDriver nvidia);

}  // namespace clique::daemon
