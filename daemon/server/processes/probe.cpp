#include "daemon/server/processes/probe.hpp"

#include <array>
#include <cstdlib>

#include "daemon/common/arguments.hpp"
#include "daemon/common/caches.hpp"
#include "daemon/common/log.hpp"
#include "daemon/common/process.hpp"
#include "daemon/confinement/confine.hpp"
#include "daemon/server/processes/backends.hpp"

namespace clique::daemon {

namespace {
const std::array kProbeArguments{
    argument<ProbeOptions>("--nvidia", [](auto& options) -> auto& { return options.nvidia; }),
    argument<ProbeOptions>("--log-level", [](auto& options) -> auto& { return options.log.level; }),
    argument<ProbeOptions>("--log-format", [](auto& options) -> auto& { return options.log.format; }),
    argument<ProbeOptions>("--folder", [](auto& options) -> auto& { return options.folder; }),
};
}  // namespace

std::vector<std::string> probe_arguments(const ProbeOptions& options) {
  return write_arguments<ProbeOptions>(kProbeArguments, options);
}

ProbeOptions parse_probe_arguments(std::span<char* const> arguments) {
  return read_arguments<ProbeOptions>(kProbeArguments, arguments);
}

void run_probe(const ControlChannel& control, const ProbeOptions& options) {
  die_with_parent();
  init_log("probe", options.log);
  if (options.folder.empty()) find_room_for_driver_cache();
  try {
    confinement::confine({confinement::Role::Probe, options.folder, {}},
                         confinement::Start::WithoutNamespaces, confinement::mode_of_environment());
    control.send(list_platforms(options.nvidia));
    std::_Exit(EXIT_SUCCESS);
  } catch (const std::exception& error) {
    control.send(std::string(error.what()));
  }
  std::_Exit(EXIT_FAILURE);
}

}  // namespace clique::daemon
