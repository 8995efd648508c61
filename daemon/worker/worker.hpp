// The processes that the daemon starts of itself; control.hpp says what they tell.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/common/control.hpp"

namespace clique::daemon {

class Backend;
struct Surroundings;

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

/// Makes the backend for the driver that the options name. Throws std::runtime_error, with a reason for
/// people.
using BackendFactory = std::unique_ptr<Backend> (*)(const WorkerOptions& options,
                                                    const Surroundings& surroundings);

/// `cliqued worker`: runs one session on one driver of the node. Does not return: it leaves the process at
/// once, even while the driver's threads are busy.
[[noreturn]] void run_worker(const WorkerOptions& options, BackendFactory make_backend);

}  // namespace clique::daemon
