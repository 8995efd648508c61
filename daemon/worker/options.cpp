#include "daemon/worker/options.hpp"

#include <array>

#include "daemon/common/arguments.hpp"

namespace clique::daemon {

namespace {
const std::array kArguments{
    argument<WorkerOptions>("--log-level", [](auto& o) -> auto& { return o.log.level; }),
    argument<WorkerOptions>("--log-format", [](auto& o) -> auto& { return o.log.format; }),
    argument<WorkerOptions>("--kind", [](auto& o) -> auto& { return o.kind; }),
    argument<WorkerOptions>("--platform", [](auto& o) -> auto& { return o.platform; }),
    argument<WorkerOptions>("--devices", [](auto& o) -> auto& { return o.devices; }),
    argument<WorkerOptions>("--bind", [](auto& o) -> auto& { return o.bind; }),
    argument<WorkerOptions>("--encryption", [](auto& o) -> auto& { return o.encryption; }),
    argument<WorkerOptions>("--worker-ports", [](auto& o) -> auto& { return o.session.ports; }),
    argument<WorkerOptions>("--kernel-timeout", [](auto& o) -> auto& { return o.session.kernel_timeout; }),
    argument<WorkerOptions>("--resume-timeout", [](auto& o) -> auto& { return o.session.resume_timeout; }),
    argument<WorkerOptions>("--session-memory", [](auto& o) -> auto& { return o.session.memory; }),
    argument<WorkerOptions>("--compression", [](auto& o) -> auto& { return o.session.compression; }),
    argument<WorkerOptions>("--ucx", [](auto& o) -> auto& { return o.session.ucx; }),
    argument<WorkerOptions>("--cufile", [](auto& o) -> auto& { return o.session.cufile; }),
    argument<WorkerOptions>("--node", [](auto& o) -> auto& { return o.session.node; }),
    argument<WorkerOptions>("--folder", [](auto& o) -> auto& { return o.folder; }),
    argument<WorkerOptions>("--start", [](auto& o) -> auto& { return o.start; }),
    argument<WorkerOptions>("--network", [](auto& o) -> auto& { return o.network; }),
};
}  // namespace

std::string needs_sockets(const SessionOptions& session) {
  if (!session.ports.none()) return "worker-ports is " + to_text(session.ports);
  if (session.ucx == UcxUse::Offered) return "ucx is true";
  return {};
}

confinement::Network network_of(const WorkerOptions& options) {
  return needs_sockets(options.session).empty() ? options.network : confinement::Network::Own;
}

std::vector<std::string> worker_arguments(const WorkerOptions& options) {
  return write_arguments<WorkerOptions>(kArguments, options);
}

WorkerOptions parse_worker_arguments(std::span<char* const> arguments) {
  return read_arguments<WorkerOptions>(kArguments, arguments);
}

}  // namespace clique::daemon
