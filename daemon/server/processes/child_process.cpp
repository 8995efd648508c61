#include "daemon/server/processes/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <functional>
#include <system_error>

#include "daemon/common/environment.hpp"
#include "daemon/common/log.hpp"
#include "daemon/common/spawn.hpp"
#include "daemon/confinement/fixed_peer.hpp"
#include "daemon/server/processes/probe.hpp"
#include "daemon/server/processes/trial.hpp"

namespace clique::daemon {

namespace {

/// How long a driver may take to start. Slow ones take a few seconds.
constexpr int kAnswerMs = 60'000;

/// The environment of a process that uses the node's drivers.
/// @param folder where drivers and their compilers keep files; empty: where they choose to
/// @param cuda whether it is to keep what it compiles for later sessions, too
std::vector<std::string> driver_environment(const std::string& folder, bool cuda) {
  std::vector<std::string> result =
      environment_without({"OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", "OPENCL_LAYERS", "CLIQUE_WORKER"});
  const auto set = [&result](Variable variable, const std::string& value) {
    const std::string begin = std::string(variable.name()) + "=";
    std::erase_if(result, [&begin](const std::string& one) { return one.starts_with(begin); });
    result.push_back(begin + value);
  };
  set("CLIQUE_WORKER", "1");
  if (const auto vendors = environment("CLIQUE_NODE_ICD_VENDORS")) set("OCL_ICD_VENDORS", *vendors);
  if (folder.empty()) return result;
  set("TMPDIR", folder);
  if (cuda) return result;
  set("HOME", folder);
  set("XDG_CACHE_HOME", folder);
  set("XDG_RUNTIME_DIR", folder);
  set("POCL_CACHE_DIR", folder + "/" + SessionFolder::kPrograms);
  return result;
}

/// A folder for a process with walls.
/// @returns none where there is to be none, or it cannot be created
SessionFolder make_folder(const std::string& folders) {
  if (folders.empty() || confinement::mode_of_environment() == confinement::Mode::Off) return {};
  try {
    return SessionFolder(folders);
  } catch (const std::system_error& error) {
    spdlog::warn("{}; a session shares the folder for compiled programs with others", error.what());
    return {};
  }
}

/// The network of a worker to which this process hands connections. The worker itself cannot tell: it has no
/// capabilities, which fixing a peer may need.
confinement::Network handed_over() {
  return confinement::can_fix_peers() ? confinement::Network::FixedPeers : confinement::Network::HandedOver;
}

void check(int error, const char* what) {
  if (error != 0) throw std::system_error(error, std::generic_category(), what);
}

}  // namespace

/// What to start.
struct ChildProcess::Launch {
  std::string process;
  /// The options, given how the process starts.
  std::function<std::vector<std::string>(confinement::Start)> arguments;
  bool namespaces = false;  ///< if the kernel allows
  bool cuda = false;
  SessionFolder folder;
  ControlGroup group;
  int errors = -1;  ///< see start_worker()
};

ChildProcess ChildProcess::start(Launch launch) {
  int ends[2];
  check(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0 ? 0 : errno, "socketpair");
  Fd ours(ends[0]);
  const Fd theirs(::fcntl(ends[1], F_DUPFD_CLOEXEC, kChildFd + 1));
  ::close(ends[1]);
  check(theirs ? 0 : errno, "control channel");

  const auto spawn_as = [&](confinement::Start start) {
    NewProcess child;
    child.program = "/proc/self/exe";
    child.arguments = {"cliqued", launch.process, "--control-fd", std::to_string(kChildFd)};
    const auto options = launch.arguments(start);
    child.arguments.insert(child.arguments.end(), options.begin(), options.end());
    child.environment = driver_environment(launch.folder.path(), launch.cuda);
    child.connection = theirs.get();
    child.leads_group = true;
    child.errors = launch.errors;
    child.own_namespaces = start == confinement::Start::InNamespaces;
    return spawn(std::move(child), "starting a process");
  };
  pid_t pid = -1;
  if (!launch.namespaces) {
    pid = spawn_as(confinement::Start::WithoutNamespaces);
  } else {
    try {
      pid = spawn_as(confinement::Start::InNamespaces);
    } catch (const std::system_error&) {
      // Whether it may run without is the process's decision.
      pid = spawn_as(confinement::Start::NamespacesRefused);
    }
  }
  ChildProcess started(pid, ControlChannel(std::move(ours)), std::move(launch.folder),
                       std::move(launch.group));
  // It runs none of a client's code before it has reported that it is ready.
  started.group_.add(pid);
  return started;
}

ChildProcess ChildProcess::start_worker(WorkerOptions options, ControlGroup group, int errors) {
  const bool confined = confinement::mode_of_environment() != confinement::Mode::Off;
  Launch launch;
  launch.process = "worker";
  launch.errors = errors;
  launch.cuda = options.kind == PlatformKind::Cuda;
  launch.namespaces =
      confined && confinement::wants_namespaces(launch.cuda ? confinement::Role::CudaWorker
                                                            : confinement::Role::OpenClWorker);
  launch.folder = make_folder(options.session.folders);
  launch.group = std::move(group);
  options.folder = launch.folder.path();
  options.network = handed_over();
  launch.arguments = [options = std::move(options)](confinement::Start start) mutable {
    options.start = start;
    return worker_arguments(options);
  };
  return start(std::move(launch));
}

ChildProcess ChildProcess::start_probe(NvidiaDriver nvidia, const std::string& folders) {
  Launch launch;
  launch.process = "probe";
  launch.folder = make_folder(folders);
  const ProbeOptions options{nvidia, log_options(), launch.folder.path()};
  launch.arguments = [options](confinement::Start /*start*/) { return probe_arguments(options); };
  return start(std::move(launch));
}

ChildProcess ChildProcess::start_trial() {
  Launch launch;
  launch.process = "trial";
  launch.namespaces = true;
  launch.arguments = [](confinement::Start start) { return trial_arguments({start, handed_over()}); };
  return start(std::move(launch));
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      control_(std::move(other.control_)),
      folder_(std::move(other.folder_)),
      group_(std::move(other.group_)) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(control_, other.control_);
  std::swap(folder_, other.folder_);
  std::swap(group_, other.group_);
  return *this;
}

ChildProcess::~ChildProcess() {
  stop();
}

std::optional<std::string> ChildProcess::wait(int flags) {
  if (pid_ < 0) return "";
  int status = 0;
  const pid_t ended = ::waitpid(pid_, &status, flags);
  if (ended == 0) return std::nullopt;
  pid_ = -1;
  folder_ = SessionFolder();
  group_ = ControlGroup();
  if (ended < 0) return "";
  if (WIFSIGNALED(status)) return std::string("killed by signal ") + ::strsignal(WTERMSIG(status));
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
    return "exit status " + std::to_string(WEXITSTATUS(status));
  return "";
}

std::optional<std::string> ChildProcess::ended() {
  return wait(WNOHANG);
}

void ChildProcess::kill() const {
  if (pid_ > 0) ::kill(pid_, SIGKILL);
}

std::string ChildProcess::stop() {
  // The status of a process that exits by itself is worth knowing.
  auto how = ended();
  if (!how) {
    kill();
    how = wait(0);
  }
  return how.value_or("");
}

std::vector<std::byte> receive_from(ChildProcess& child, int owner) {
  std::array<pollfd, 2> ready{{{child.control().fd(), POLLIN, 0}, {owner, POLLIN, 0}}};
  int events = 0;
  do {
    events = ::poll(ready.data(), ready.size(), kAnswerMs);
  } while (events < 0 && errno == EINTR);
  if (events == 0) throw std::runtime_error("the OpenCL driver did not start within 60 seconds");
  if (ready[0].revents == 0) throw std::runtime_error("the application has closed its control channel");
  auto packet = child.control().receive();
  if (!packet) throw std::runtime_error("the OpenCL driver ended its process (" + child.stop() + ")");
  return std::move(*packet);
}

std::vector<ListedPlatform> probe_platforms(NvidiaDriver nvidia, const std::string& folders, int owner) {
  ChildProcess probe = ChildProcess::start_probe(nvidia, folders);
  return parse_platforms(receive_from(probe, owner));
}

}  // namespace clique::daemon
