#include "daemon/server/embedded.hpp"

#include <unistd.h>

#include <cstdlib>

#include "daemon/common/log.hpp"
#include "daemon/common/process.hpp"
#include "daemon/worker/worker.hpp"

namespace clique::daemon {

namespace {

/// What the worker says last; its devices are told to its client when that attaches.
WorkerReady await_ready(ChildProcess& child, int owner) {
  for (;;) {
    auto said = parse_worker(receive_from(child, owner));
    if (auto* ready = std::get_if<WorkerReady>(&said)) return std::move(*ready);
  }
}

}  // namespace

int run_embedded(int control_fd) {
  const ControlChannel control{Fd(control_fd)};
  // Signals that the terminal sends to the application's process group are the application's.
  ::setpgid(0, 0);
  std::vector<ChildProcess> children;
  std::vector<WorkerReady> workers;
  std::string reason = "no OpenCL driver is installed on this host";
  const char* nvidia = std::getenv("CLIQUE_NVIDIA");
  try {
    for (const ListedPlatform& platform :
         probe_platforms(nvidia != nullptr && *nvidia != '\0' ? nvidia : "cuda", control_fd)) {
      if (platform.devices.empty()) continue;
      WorkerOptions options;
      options.kind = platform.kind;
      options.platform = platform.index;
      children.push_back(ChildProcess::start(worker_arguments(options)));
    }
    for (std::uint32_t driver = 0; driver < children.size(); ++driver) {
      ChildProcess& child = children[driver];
      try {
        workers.push_back(await_ready(child, control_fd));
        workers.back().address.driver = driver;
        child.control().send(Notice{Notice::Kind::Taken, "the process that embeds this worker"});
      } catch (const std::exception& error) {
        reason = error.what();
        spdlog::warn("a driver cannot be used: {}", reason);
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
