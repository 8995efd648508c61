#pragma once

#include <span>
#include <string>
#include <vector>

#include "daemon/common/control.hpp"
#include "daemon/confinement/confine.hpp"

namespace clique::daemon {

/// Options of `cliqued trial`.
struct TrialOptions {
  confinement::Start start = confinement::Start::WithoutNamespaces;
  confinement::Network network = confinement::Network::HandedOver;
};

/// The options as arguments of `cliqued trial`.
std::vector<std::string> trial_arguments(const TrialOptions& options);
/// Reads what trial_arguments() wrote. Throws std::invalid_argument.
TrialOptions parse_trial_arguments(std::span<char* const> arguments);

/// `cliqued trial`: sets up the walls of a worker, and sends the missing ones through the control channel.
/// Does not return.
[[noreturn]] void run_trial(const ControlChannel& control, const TrialOptions& options);

/// The walls of workers that this host lacks. A child process tries all of them. Throws std::runtime_error if
/// that fails.
confinement::MissingWalls try_walls();

}  // namespace clique::daemon
