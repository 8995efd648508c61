// Private workers on this host, for processes without a configuration.
#pragma once

#include <chrono>
#include <vector>

#include "icd/remote/link.hpp"

namespace clique::icd {

/// The drivers of a host take their time at their first start.
inline constexpr std::chrono::milliseconds kEmbeddedTimeout{20'000};

/// Starts `cliqued embedded` and waits until its workers are ready. They live as long as the lifeline of one
/// of the endpoints; a forked child does not keep them. The program is $CLIQUE_DAEMON, else found beside this
/// library or where it was installed with it, else in $PATH. It is no child of this process (its end is no
/// SIGCHLD, and wait() does not see it), and in a process group of its own (Ctrl-C does not end it before the
/// application). Throws std::runtime_error with the cause, for people.
std::vector<WorkerEndpoint> start_embedded(std::chrono::steady_clock::time_point deadline);

}  // namespace clique::icd
