#pragma once

#include <span>
#include <string>
#include <vector>

#include "daemon/common/control.hpp"
#include "daemon/common/log.hpp"
#include "daemon/server/configuration/nvidia_driver.hpp"

namespace clique::daemon {

/// Options of `cliqued probe`.
struct ProbeOptions {
  NvidiaDriver nvidia = NvidiaDriver::Cuda;
  LogOptions log;
  std::string folder;  ///< of this process alone; empty: the drivers use the user's caches
};

/// The options as arguments of `cliqued probe`.
std::vector<std::string> probe_arguments(const ProbeOptions& options);
/// Reads what probe_arguments() wrote. Throws std::invalid_argument.
ProbeOptions parse_probe_arguments(std::span<char* const> arguments);

/// `cliqued probe`: sends the node's drivers and devices through the control channel. Does not return: it
/// leaves the process without running the drivers' destructors.
[[noreturn]] void run_probe(const ControlChannel& control, const ProbeOptions& options);

}  // namespace clique::daemon
