#include "daemon/watchdog.hpp"

#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "daemon/log.hpp"

namespace clique::daemon {

namespace {

using namespace std::chrono_literals;

/// For the main thread to end the process by itself.
constexpr auto kGrace = 3s;
constexpr auto kInterval = 500ms;

/// What the descriptor stands for; 0 for nothing.
ino_t identity(int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 ? status.st_ino : 0;
}

[[noreturn]] void end_after_grace() {
  std::this_thread::sleep_for(kGrace);
  spdlog::warn("the device's driver does not return: the process is ended");
  std::_Exit(EXIT_FAILURE);
}

}  // namespace

void end_with_connections(const std::array<int, 2>& sockets) {
  std::thread([sockets, first = identity(sockets[0]), second = identity(sockets[1])] {
    // A descriptor that was closed may stand for another connection by now.
    while (identity(sockets[0]) == first && identity(sockets[1]) == second)
      std::this_thread::sleep_for(kInterval);
    end_after_grace();
  }).detach();
}

void end_soon() {
  std::thread(end_after_grace).detach();
}

}  // namespace clique::daemon
