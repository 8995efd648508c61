#pragma once

#include "daemon/server/nvidia_driver.hpp"

namespace clique::daemon {

/// `cliqued probe`: sends the node's drivers and devices through the control channel. Leaves the process at
/// once, without running the drivers' destructors.
[[noreturn]] void run_probe(int control_fd, NvidiaDriver nvidia);

}  // namespace clique::daemon
