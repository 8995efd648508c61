#include "daemon/worker/watchdog.hpp"

#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "daemon/common/log.hpp"

namespace clique::daemon {

namespace {

using namespace std::chrono_literals;

/// How long the main thread has to end the process itself.
constexpr auto kGrace = 3s;
constexpr auto kInterval = 500ms;

/// Identifies the file behind a descriptor; 0 if it is closed.
ino_t identity(int descriptor) {
  struct stat status{};
  return ::fstat(descriptor, &status) == 0 ? status.st_ino : 0;
}

[[noreturn]] void end_after_grace() {
  std::this_thread::sleep_for(kGrace);
  spdlog::warn("a call of the device's driver does not return; ending this process and its session");
  std::_Exit(EXIT_FAILURE);
}

}  // namespace

struct ConnectionWatch::State {
  std::mutex mutex;
  std::array<int, 2> sockets{-1, -1};
  std::array<ino_t, 2> identities{};

  /// A descriptor that was closed may have become another connection's.
  bool gone() {
    const std::lock_guard lock(mutex);
    return sockets[0] >= 0 &&
           (identity(sockets[0]) != identities[0] || identity(sockets[1]) != identities[1]);
  }
};

ConnectionWatch::ConnectionWatch(std::chrono::milliseconds patience) : state_(std::make_shared<State>()) {
  std::thread([state = state_, patience] {
    auto seen = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - seen <= patience || !state->gone()) {
      std::this_thread::sleep_for(kInterval);
      if (!state->gone()) seen = std::chrono::steady_clock::now();
    }
    end_after_grace();
  }).detach();
}

void ConnectionWatch::set(const std::array<int, 2>& sockets) {
  const std::lock_guard lock(state_->mutex);
  state_->sockets = sockets;
  state_->identities = {identity(sockets[0]), identity(sockets[1])};
}

void end_soon() {
  std::thread(end_after_grace).detach();
}

}  // namespace clique::daemon
