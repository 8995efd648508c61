#pragma once

#include <chrono>
#include <thread>

namespace clique::protocol {

/// Whether a condition comes true before anybody would call the test hung.
template <typename F>
bool eventually(F&& condition) {
  using namespace std::chrono_literals;
  using Clock = std::chrono::steady_clock;
  for (const auto deadline = Clock::now() + 60s; !condition(); std::this_thread::sleep_for(1ms))
    if (Clock::now() > deadline) return false;
  return true;
}

}  // namespace clique::protocol
