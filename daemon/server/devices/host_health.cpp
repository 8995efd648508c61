#include "daemon/server/devices/host_health.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "daemon/common/environment.hpp"
#include "daemon/common/find_compiler.hpp"
#include "daemon/common/log.hpp"
#include "daemon/common/spawn.hpp"
#include "protocol/fd.hpp"
#include "protocol/no_signals.hpp"
#include "protocol/throw_errno.hpp"

namespace clique::daemon {

namespace {

using namespace std::chrono_literals;

constexpr const char* kSharedMemoryFolder = "/dev/shm";
/// How long an observation counts as current.
constexpr auto kStillTrue = 500ms;
/// How long the compiler may take to say its release.
constexpr auto kVersionPatience = 10s;
/// The text before the release in the output of the compiler, and the longest such line in bytes.
constexpr std::string_view kBeforeRelease = "clique-compiler ";
constexpr std::size_t kLongestVersionLine = 128;

void measure_space(protocol::FolderSpace& space) {
  struct statvfs info{};
  const bool known = !space.folder.empty() && ::statvfs(space.folder.c_str(), &info) == 0;
  space.total = known ? std::uint64_t{info.f_blocks} * info.f_frsize : protocol::kUnknown;
  space.free = known ? std::uint64_t{info.f_bavail} * info.f_frsize : protocol::kUnknown;
}

/// Reads what a process writes, kLongestVersionLine at most, until it ends or has taken too long.
std::string read_line(int descriptor) {
  const auto deadline = std::chrono::steady_clock::now() + kVersionPatience;
  std::string line;
  while (line.size() < kLongestVersionLine) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd readable{descriptor, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&readable, 1, static_cast<int>(left.count())) <= 0) break;
    std::array<char, kLongestVersionLine> bytes{};
    const ssize_t count = ::read(descriptor, bytes.data(), bytes.size());
    if (count <= 0) break;
    line.append(bytes.data(), static_cast<std::size_t>(count));
  }
  return line.substr(0, line.find('\n'));
}

/// The release of Clique that a compiler is part of; empty if it does not say.
std::string release_of(const std::string& compiler) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {};
  const Fd from_compiler(ends[0]);
  Fd to_us(ends[1]);
  NewProcess process;
  process.program = compiler;
  process.arguments = {"clique-compiler", "--version"};
  process.environment = environment_without({});
  process.output = to_us.get();
  const pid_t pid = spawn(std::move(process), "asking clique-compiler for its release");
  to_us = Fd();
  const std::string line = read_line(from_compiler.get());
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  return line.starts_with(kBeforeRelease) ? line.substr(kBeforeRelease.size()) : std::string();
}

}  // namespace

struct HostHealth::State {
  /// What changes if a file is replaced.
  struct FileVersion {
    ino_t number = 0;
    timespec changed = {};

    bool operator==(const FileVersion& other) const {
      return number == other.number && changed.tv_sec == other.changed.tv_sec &&
             changed.tv_nsec == other.changed.tv_nsec;
    }
  };

  std::mutex mutex;  // guards the members below
  protocol::NodeHealth health;
  bool asking = false;
  FileVersion compiler = {};  // of which health has the release; only look() uses it, one call at a time

  /// Asks the compiler for its release if it is not the one that was asked before: packages are upgraded
  /// while the daemon runs.
  void look_at_compiler() {
    std::string path;
    {
      const std::lock_guard lock(mutex);
      path = health.compiler;
    }
    struct stat info{};
    FileVersion present;
    if (!path.empty() && ::stat(path.c_str(), &info) == 0) present = {info.st_ino, info.st_ctim};
    if (present == compiler) return;
    std::string release;
    try {
      release = release_of(path);
    } catch (const std::system_error& error) {
      spdlog::debug("the release of {} is unknown: {}", path, error.what());
    }
    const std::lock_guard lock(mutex);
    health.compiler_release = std::move(release);
    compiler = present;
  }

  void look() {
    look_at_compiler();
    protocol::FolderSpace cache{};
    protocol::FolderSpace shared_memory{};
    {
      const std::lock_guard lock(mutex);
      cache.folder = health.cache.folder;
      shared_memory.folder = health.shared_memory.folder;
    }
    measure_space(shared_memory);
    measure_space(cache);
    const std::lock_guard lock(mutex);
    health.cache = std::move(cache);
    health.shared_memory = std::move(shared_memory);
    asking = false;
  }
};

HostHealth::HostHealth(protocol::NodeHealth known, const std::string& cache_folder)
    : state_(std::make_shared<State>()) {
  state_->health = std::move(known);
  state_->health.cache.folder = cache_folder;
  state_->health.shared_memory.folder = kSharedMemoryFolder;
  ask();
}

void HostHealth::ask() {
  const auto now = std::chrono::steady_clock::now();
  const std::lock_guard lock(state_->mutex);
  if (state_->asking || now - asked_ < kStillTrue) return;
  const protocol::NoSignals quiet;
  try {
    std::thread([state = state_] { state->look(); }).detach();
  } catch (const std::system_error& error) {
    spdlog::debug("free space is unknown: {}", error.what());
    return;
  }
  asked_ = now;
  state_->asking = true;
}

bool HostHealth::asking() const {
  const std::lock_guard lock(state_->mutex);
  return state_->asking;
}

protocol::NodeHealth HostHealth::reading() const {
  const std::lock_guard lock(state_->mutex);
  return state_->health;
}

void note_walls(protocol::NodeHealth& health, confinement::Mode mode,
                const confinement::MissingWalls& missing) {
  health.confined = mode != confinement::Mode::Off;
  for (const auto& [wall, reason] : missing)
    health.missing_walls.push_back(
        {std::string(confinement::name_of(wall)), reason, std::string(confinement::remedy_of(wall))});
}

void note_compiler(protocol::NodeHealth& health) {
  health.compiler = compiler::find_compiler();
  if (health.compiler.empty()) {
    health.without_compiler = "clique-compiler is not installed beside cliqued";
  } else if (::access(health.compiler.c_str(), X_OK) != 0) {
    health.without_compiler =
        "CLIQUE_COMPILER is " + health.compiler + ", which cannot be executed: " + error_text(errno);
    health.compiler.clear();
  }
}

}  // namespace clique::daemon
