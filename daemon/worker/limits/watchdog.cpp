#include "daemon/worker/limits/watchdog.hpp"

#include <chrono>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <utility>

#include "daemon/common/log.hpp"
#include "protocol/streams/stream_line.hpp"

namespace clique::daemon {

namespace {

using namespace std::chrono_literals;

/// How long the main thread has to end the process itself.
constexpr auto kGrace = 3s;
constexpr auto kInterval = 500ms;

[[noreturn]] void end_after_grace() {
  std::this_thread::sleep_for(kGrace);
  spdlog::warn("a call of the device's driver does not return; ending this process and its session");
  std::_Exit(EXIT_FAILURE);
}

}  // namespace

struct ConnectionWatch::State {
  std::mutex mutex;
  std::function<bool()> connections_gone;

  bool gone() {
    const std::lock_guard lock(mutex);
    return connections_gone && connections_gone();
  }
};

ConnectionWatch::ConnectionWatch(std::chrono::milliseconds patience, std::function<void()> pulse)
    : state_(std::make_shared<State>()) {
  std::thread([state = state_, patience, pulse = std::move(pulse)] {
    auto seen = std::chrono::steady_clock::now();
    auto next_pulse = seen;
    for (auto now = seen; now - seen <= patience || !state->gone(); now = std::chrono::steady_clock::now()) {
      if (!state->gone()) seen = now;
      if (pulse && now >= next_pulse) {
        pulse();
        next_pulse = now + protocol::kPulseInterval;
      }
      std::this_thread::sleep_for(kInterval);
    }
    end_after_grace();
  }).detach();
}

void ConnectionWatch::set(std::function<bool()> gone) {
  const std::lock_guard lock(state_->mutex);
  state_->connections_gone = std::move(gone);
}

void end_soon() {
  std::thread(end_after_grace).detach();
}

}  // namespace clique::daemon
