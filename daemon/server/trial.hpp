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
};

/// The options as arguments of `cliqued trial`.
std::vector<std::string> trial_arguments(const TrialOptions& options);
/// Reads what trial_arguments() wrote. Throws std::invalid_argument.
TrialOptions parse_trial_arguments(std::span<char* const> arguments);

/// `cliqued trial`: puts up the walls of a worker around itself, and sends which ones the host lacks through
/// the control channel. Does not return.
[[noreturn]] void run_trial(const ControlChannel& control, const TrialOptions& options);

/// The walls that this host cannot put up around workers, as a process of its own finds out. Throws
/// std::runtime_error when it cannot.
confinement::MissingWalls try_walls();

}  // namespace clique::daemon
