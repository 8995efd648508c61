#include "daemon/server/embedded.hpp"

#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

#include "daemon/common/environment.hpp"
#include "daemon/common/log.hpp"
#include "daemon/server/child_process.hpp"
#include "daemon/server/settings.hpp"
#include "daemon/worker/options.hpp"

namespace clique::daemon {

namespace {

/// Waits for a worker's last packet. Its devices, which come before, are for its client alone, which gets
/// them when it attaches.
WorkerReady await_ready(ChildProcess& child, int owner) {
  for (;;) {
    auto said = parse_worker(receive_from(child, owner));
    if (auto* ready = std::get_if<WorkerReady>(&said)) return std::move(*ready);
  }
}

/// What CLIQUE_NVIDIA names. Throws std::invalid_argument.
NvidiaDriver wanted_nvidia_driver() {
  const std::string text = environment("CLIQUE_NVIDIA").value_or("");
  if (text.empty()) return NvidiaDriver::Cuda;
  try {
    return parse_nvidia_driver(text);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(std::string("CLIQUE_NVIDIA: ") + error.what());
  }
}

}  // namespace

int run_embedded(const ControlChannel& control) {
  init_log("embedded", {});
  // Signals that a terminal sends to the application's process group are not for this process.
  ::setpgid(0, 0);
  std::vector<ChildProcess> children;
  std::vector<WorkerReady> workers;
  std::string reason = "no OpenCL driver is installed on this host";
  try {
    const NvidiaDriver nvidia = wanted_nvidia_driver();
    make_nvidia_devices(nvidia);
    for (const ListedPlatform& platform : probe_platforms(nvidia, "", control.fd())) {
      if (platform.devices.empty()) continue;
      WorkerOptions options;
      options.kind = platform.kind;
      options.platform = platform.index;
      options.session.node = host_name();
      options.session.ports = kAnyPort;
      children.push_back(ChildProcess::start_worker(options));
    }
    for (std::uint32_t driver = 0; driver < children.size(); ++driver) {
      ChildProcess& child = children[driver];
      try {
        workers.push_back(await_ready(child, control.fd()));
        workers.back().address.driver = driver;
        child.control().send(Notice{Notice::Kind::Taken, "the process that embeds this worker"});
      } catch (const std::exception& error) {
        reason = error.what();
        spdlog::warn("an OpenCL driver of this host cannot be used: {}", reason);
      }
    }
  } catch (const std::exception& error) {
    reason = error.what();
  }
  if (workers.empty()) {
    control.send(reason);
    return EXIT_FAILURE;
  }
  control.send(workers);
  while (control.receive()) {
  }
  return EXIT_SUCCESS;
}

}  // namespace clique::daemon
