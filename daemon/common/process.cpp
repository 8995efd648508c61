#include "daemon/common/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "daemon/common/log.hpp"

namespace clique::daemon {

namespace {

namespace fs = std::filesystem;

/// Where the child finds its end of the channel.
constexpr int kChildControlFd = 3;
/// Time that a driver may take to start: slow ones take a few seconds.
constexpr int kAnswerMs = 60'000;

/// The environment of a process that uses the node's drivers.
std::vector<std::string> driver_environment() {
  std::vector<std::string> result;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    const auto name = text.substr(0, text.find('='));
    if (name == "OCL_ICD_VENDORS" || name == "OCL_ICD_FILENAMES" || name == "OPENCL_LAYERS" ||
        name == "CLIQUE_WORKER")
      continue;
    result.emplace_back(text);
  }
  result.emplace_back("CLIQUE_WORKER=1");
  if (const char* vendors = std::getenv("CLIQUE_NODE_ICD_VENDORS"))
    result.push_back(std::string("OCL_ICD_VENDORS=") + vendors);
  return result;
}

/// Where programs keep what they can make again; empty where there is no such place.
fs::path cache_root() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME")) return cache;
  if (const char* home = std::getenv("HOME")) return fs::path(home) / ".cache";
  return {};
}

/// Whether the folder is there, or can be, and takes what drivers write for a program.
bool has_room(const fs::path& folder) {
  constexpr std::uintmax_t kRoom = 32U << 20U;
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed || ::access(folder.c_str(), W_OK) != 0) return false;
  const fs::space_info space = fs::space(folder, failed);
  return !failed && space.available >= kRoom;
}

/// Makes a folder for this user alone among those of others. @returns whether it is that.
bool make_private(const fs::path& folder) {
  ::mkdir(folder.c_str(), S_IRWXU);
  struct stat status{};
  return ::lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == ::geteuid() &&
         (status.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  result.reserve(strings.size() + 1);
  for (std::string& string : strings) result.push_back(string.data());
  result.push_back(nullptr);
  return result;
}

void check(int error, const char* what) {
  if (error != 0) throw std::system_error(error, std::generic_category(), what);
}

}  // namespace

void separate_compiler_cache(const std::string& daemon) {
  const fs::path root = cache_root();
  if (root.empty()) return;
  const fs::path folder = root / "clique" / daemon;
  std::error_code failed;
  fs::create_directories(folder, failed);
  // Without a folder, the driver's own choice is as good.
  if (!failed) ::setenv("POCL_CACHE_DIR", folder.c_str(), 0);
}

void find_room_for_compilers() {
  const char* named = std::getenv("POCL_CACHE_DIR");
  const fs::path root = cache_root();
  const fs::path folder = named != nullptr ? fs::path(named) : root / "pocl";
  if ((named == nullptr && root.empty()) || has_room(folder)) return;
  // One for each folder that is full: see separate_compiler_cache.
  std::string name = folder.relative_path();
  std::replace(name.begin(), name.end(), '/', '-');
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  std::error_code failed;
  for (const fs::path& shared :
       {fs::path(runtime != nullptr ? runtime : ""), fs::temp_directory_path(failed), fs::path("/dev/shm")}) {
    const fs::path own = shared / ("clique-" + std::to_string(::geteuid()));
    if (shared.empty() || !make_private(own) || !has_room(own / name)) continue;
    ::setenv("POCL_CACHE_DIR", (own / name).c_str(), 1);
    spdlog::warn("{} has no room for what is compiled, which goes to {}", folder.string(),
                 (own / name).string());
    return;
  }
  spdlog::warn("{} has no room for what is compiled; programs may fail to build", folder.string());
}

ChildProcess ChildProcess::start(std::vector<std::string> arguments) {
  int ends[2];
  check(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0 ? 0 : errno, "socketpair");
  Fd ours(ends[0]);
  // dup2 onto the same number would leave it close-on-exec, so the child's end must be another.
  Fd theirs(::fcntl(ends[1], F_DUPFD_CLOEXEC, kChildControlFd + 1));
  ::close(ends[1]);
  check(theirs ? 0 : errno, "control channel");

  arguments.insert(arguments.begin(), "cliqued");
  arguments.insert(arguments.end(), {"--control-fd", std::to_string(kChildControlFd)});
  auto environment = driver_environment();

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, theirs.get(), kChildControlFd);
  posix_spawn_file_actions_addclosefrom_np(&actions, kChildControlFd + 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  sigset_t all;
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, "/proc/self/exe", &actions, &attributes, pointers(arguments).data(),
                                pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  check(error, "starting a process");
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
  // One that ends by itself has a status worth knowing.
  auto how = ended();
  if (!how) {
    kill();
    how = wait(0);
  }
  return how.value_or("");
}

void die_with_parent() {
  const pid_t parent = ::getppid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) std::_Exit(0);
}

std::vector<std::byte> receive_from(ChildProcess& child, int owner) {
  std::array<pollfd, 2> ready{{{child.control().fd(), POLLIN, 0}, {owner, POLLIN, 0}}};
  int events = 0;
  do {
    events = ::poll(ready.data(), ready.size(), kAnswerMs);
  } while (events < 0 && errno == EINTR);
  if (events == 0) throw std::runtime_error("the OpenCL driver did not answer within a minute");
  if (ready[0].revents == 0) throw std::runtime_error("not wanted any more");
  auto packet = child.control().receive();
  if (!packet) throw std::runtime_error("the OpenCL driver ended the process (" + child.stop() + ")");
  return std::move(*packet);
}

std::vector<ListedPlatform> probe_platforms(const std::string& nvidia, int owner) {
  ChildProcess probe = ChildProcess::start({"probe", "--nvidia", nvidia});
  return parse_platforms(receive_from(probe, owner));
}

}  // namespace clique::daemon
