// Private workers on this host, for processes without a configuration.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "icd/remote/worker_endpoint.hpp"

namespace clique::icd {

/// The time allowed for starting private workers: drivers take long when they start for the first time.
inline constexpr std::chrono::milliseconds kEmbeddedTimeout{20'000};

/// The cliqued that start_embedded() starts: CLIQUE_DAEMON, or else the one beside this library or where it
/// was installed with it, or else the one in PATH. Throws std::runtime_error with the cause, for people.
std::string find_daemon();

/// Starts `cliqued embedded` and waits until its workers are ready. They run as long as the lifeline of one
/// of the endpoints exists; a forked child does not keep them running. The program is that of find_daemon().
/// It is not a child of this process, so its exit raises no SIGCHLD and wait() does not see it. It is in a
/// process group of its own, so Ctrl-C does not end it before the application. Throws std::runtime_error with
/// the cause, for people.
std::vector<WorkerEndpoint> start_embedded(std::chrono::steady_clock::time_point deadline);

}  // namespace clique::icd
