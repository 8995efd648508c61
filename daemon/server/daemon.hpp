#pragma once

namespace clique::daemon {

/// `cliqued` itself: offers the node's devices until a signal ends it. Throws ConfigError and
/// std::runtime_error when it cannot start. @returns the exit status.
int run_daemon(int argc, char** argv);

}  // namespace clique::daemon
