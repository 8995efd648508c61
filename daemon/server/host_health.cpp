#include "daemon/server/host_health.hpp"

#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "daemon/common/find_compiler.hpp"
#include "daemon/common/log.hpp"
#include "protocol/no_signals.hpp"
#include "protocol/throw_errno.hpp"

namespace clique::daemon {

namespace {

using namespace std::chrono_literals;

constexpr const char* kSharedMemoryFolder = "/dev/shm";
/// What was seen in this time is taken to hold.
constexpr auto kStillTrue = 500ms;

void measure_space(protocol::FolderSpace& space) {
  struct statvfs info{};
  const bool known = !space.folder.empty() && ::statvfs(space.folder.c_str(), &info) == 0;
  space.total = known ? std::uint64_t{info.f_blocks} * info.f_frsize : protocol::kUnknown;
  space.free = known ? std::uint64_t{info.f_bavail} * info.f_frsize : protocol::kUnknown;
}

}  // namespace

struct HostHealth::State {
  std::mutex mutex;  // guards the members below
  protocol::NodeHealth health;
  bool asking = false;

  void look() {
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
