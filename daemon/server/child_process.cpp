#include "daemon/server/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>

#include "daemon/common/environment.hpp"
#include "daemon/common/spawn.hpp"
#include "daemon/server/probe.hpp"

namespace clique::daemon {

namespace {

/// How long a driver may take to start. Slow ones take a few seconds.
constexpr int kAnswerMs = 60'000;

/// The environment of a process that uses the node's drivers.
std::vector<std::string> driver_environment() {
  auto result =
      environment_without({"OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", "OPENCL_LAYERS", "CLIQUE_WORKER"});
  result.emplace_back("CLIQUE_WORKER=1");
  if (const auto vendors = environment("CLIQUE_NODE_ICD_VENDORS"))
    result.push_back("OCL_ICD_VENDORS=" + *vendors);
  return result;
}

void check(int error, const char* what) {
  if (error != 0) throw std::system_error(error, std::generic_category(), what);
}

}  // namespace

ChildProcess ChildProcess::start(const std::string& process, const std::vector<std::string>& arguments) {
  int ends[2];
  check(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0 ? 0 : errno, "socketpair");
  Fd ours(ends[0]);
  const Fd theirs(::fcntl(ends[1], F_DUPFD_CLOEXEC, kChildFd + 1));
  ::close(ends[1]);
  check(theirs ? 0 : errno, "control channel");

  NewProcess child;
  child.program = "/proc/self/exe";
  child.arguments = {"cliqued", process, "--control-fd", std::to_string(kChildFd)};
  child.arguments.insert(child.arguments.end(), arguments.begin(), arguments.end());
  child.environment = driver_environment();
  child.connection = theirs.get();
  child.leads_group = true;
  const pid_t pid = spawn(std::move(child), "starting a process");
  return {pid, ControlChannel(std::move(ours))};
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), control_(std::move(other.control_)) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(control_, other.control_);
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

std::vector<ListedPlatform> probe_platforms(NvidiaDriver nvidia, int owner) {
  ProbeOptions options;
  options.nvidia = nvidia;
  ChildProcess probe = ChildProcess::start("probe", probe_arguments(options));
  return parse_platforms(receive_from(probe, owner));
}

}  // namespace clique::daemon
