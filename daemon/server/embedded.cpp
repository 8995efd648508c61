#include "daemon/server/embedded.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "daemon/common/environment.hpp"
#include "daemon/common/log.hpp"
#include "daemon/server/configuration/config_error.hpp"
#include "daemon/server/configuration/device_filter.hpp"
#include "daemon/server/configuration/settings.hpp"
#include "daemon/server/connections/file_desk.hpp"
#include "daemon/server/processes/child_process.hpp"
#include "daemon/server/processes/worker_lines.hpp"
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

/// The folders that CLIQUE_FILE_ROOTS names; by default all files of the user, as the program itself has.
/// Throws std::invalid_argument.
FileRoots wanted_file_roots() {
  const auto text = environment("CLIQUE_FILE_ROOTS");
  if (!text || text->empty()) return FileRoots::everything();
  try {
    return FileRoots::parse(*text);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(std::string("CLIQUE_FILE_ROOTS: ") + error.what());
  }
}

/// The devices of this host that CLIQUE_HOST_DEVICES selects. Throws ConfigError.
std::vector<SelectedPlatform> wanted_devices(const std::vector<ListedPlatform>& platforms) {
  try {
    return select_devices(environment("CLIQUE_HOST_DEVICES").value_or(""), platforms);
  } catch (const ConfigError& error) {
    throw ConfigError(std::string("CLIQUE_HOST_DEVICES: ") + error.what());
  }
}

/// Opens the files that the workers ask for, until the application is gone.
void serve(const ControlChannel& application, std::vector<ChildProcess>& children, const FileRoots& roots) {
  FileDesk desk;
  std::vector<bool> opening(children.size());  // whether the desk has a request of the worker
  std::vector<pollfd> items{{application.fd(), POLLIN, 0}, {desk.fd(), POLLIN, 0}};
  const std::size_t first = items.size();
  for (const ChildProcess& child : children) items.push_back({child.control().fd(), POLLIN, 0});
  for (;;) {
    if (::poll(items.data(), items.size(), -1) < 0) {
      if (errno == EINTR) continue;
      throw std::system_error(errno, std::generic_category(), "poll");
    }
    if (items[0].revents != 0 && !application.receive()) return;
    if (items[1].revents != 0)
      for (const FileDesk::Answer& answer : desk.done()) {
        opening[answer.number] = false;
        answer.send(children[answer.number].control());
      }
    for (std::size_t child = 0; child < children.size(); ++child) {
      if (items[first + child].revents == 0) continue;
      try {
        const auto packet = children[child].control().receive();
        // Its client, the application, notices its end by itself.
        if (!packet) items[first + child].fd = -1;
        if (!packet) continue;
        auto said = parse_from_session(*packet);
        auto* request = std::get_if<FileRequest>(&said);
        if (request == nullptr) continue;
        // One at a time, as in Server: a kernel could ask for any number.
        if (opening[child]) throw std::runtime_error("it has asked for a file before it got the one before");
        opening[child] = true;
        desk.open(child, roots, std::move(*request));
      } catch (const std::exception& error) {
        spdlog::warn("a worker has failed: {}", error.what());
        items[first + child].fd = -1;
      }
    }
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

/// What CLIQUE_CUFILE names. Throws std::invalid_argument.
CuFileUse wanted_cufile_use() {
  const std::string text = environment("CLIQUE_CUFILE").value_or("");
  if (text.empty()) return CuFileUse::Auto;
  try {
    return parse_cufile_use(text);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(std::string("CLIQUE_CUFILE: ") + error.what());
  }
}

}  // namespace

int run_embedded(const ControlChannel& control) {
  init_log("embedded", {});
  // Signals that a terminal sends to the application's process group are not for this process.
  ::setpgid(0, 0);
  std::unique_ptr<WorkerLines> lines;  // before the processes whose lines it reads
  std::vector<ChildProcess> children;
  std::vector<WorkerReady> workers;
  std::string reason =
      "no OpenCL driver is installed on this host. Install one, such as pocl-opencl-icd, or set CLIQUE_NODES "
      "to "
      "the nodes to use";
  FileRoots roots;
  try {
    lines = WorkerLines::start(LinesTo::Program);
    roots = wanted_file_roots();
    const NvidiaDriver nvidia = wanted_nvidia_driver();
    const CuFileUse cufile = wanted_cufile_use();
    make_nvidia_devices(nvidia);
    for (const SelectedPlatform& platform : wanted_devices(probe_platforms(nvidia, "", control.fd()))) {
      WorkerOptions options;
      options.kind = platform.kind;
      options.platform = platform.index;
      options.devices = platform.devices;
      options.session.node = host_name();
      options.session.ports = kAnyPort;
      options.session.cufile = cufile;
      WorkerLines::Pipe pipe = WorkerLines::make_pipe();
      children.push_back(ChildProcess::start_worker(options, {}, pipe.to_write.get()));
      lines->add(std::move(pipe.to_read), children.back().pid());
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
  serve(control, children, roots);
  return EXIT_SUCCESS;
}

}  // namespace clique::daemon
