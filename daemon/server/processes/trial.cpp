#include "daemon/server/processes/trial.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <stdexcept>

#include "daemon/common/arguments.hpp"
#include "daemon/common/process.hpp"
#include "daemon/server/processes/child_process.hpp"

namespace clique::daemon {

namespace {
const std::array kTrialArguments{
    argument<TrialOptions>("--start", [](auto& options) -> auto& { return options.start; }),
    argument<TrialOptions>("--network", [](auto& options) -> auto& { return options.network; }),
};
}  // namespace

std::vector<std::string> trial_arguments(const TrialOptions& options) {
  return write_arguments<TrialOptions>(kTrialArguments, options);
}

TrialOptions parse_trial_arguments(std::span<char* const> arguments) {
  return read_arguments<TrialOptions>(kTrialArguments, arguments);
}

void run_trial(const ControlChannel& control, const TrialOptions& options) {
  die_with_parent();
  try {
    const auto missing = confinement::confine({confinement::Role::OpenClWorker, {}, {}}, options.start,
                                              confinement::Mode::On, options.network);
    std::vector<Finding> findings;
    for (const auto& [wall, reason] : missing)
      findings.push_back({std::string(confinement::name_of(wall)), reason});
    control.send(findings);
    std::_Exit(EXIT_SUCCESS);
  } catch (const std::exception& error) {
    control.send(std::string(error.what()));
  }
  std::_Exit(EXIT_FAILURE);
}

confinement::MissingWalls try_walls() {
  ChildProcess trial = ChildProcess::start_trial();
  const auto packet = trial.control().receive();
  if (!packet)
    throw std::runtime_error("the process that tries the walls of this host ended unexpectedly (" +
                             trial.stop() + ")");
  confinement::MissingWalls missing;
  for (Finding& finding : parse_findings(*packet)) {
    const auto* const wall =
        std::find_if(std::begin(confinement::kWalls), std::end(confinement::kWalls),
                     [&](confinement::Wall one) { return confinement::name_of(one) == finding.subject; });
    if (wall != std::end(confinement::kWalls)) missing.push_back({*wall, std::move(finding.text)});
  }
  return missing;
}

}  // namespace clique::daemon
