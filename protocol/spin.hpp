// How long threads that wait for the other side look for news without a pause, before they sleep.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace clique::protocol {

/// What a text of CLIQUE_SPIN_US asks for: microseconds, 0 to 1000000; none where it is null or empty. Throws
/// std::runtime_error, with a reason for people, where it says something else.
std::optional<std::chrono::microseconds> parse_spin_time(const char* text);

/// Sets how long threads of this process poll, for each Spinning and Vigil that is constructed from now on;
/// nothing: what suits this host. Until the first call, CLIQUE_SPIN_US decides. Any thread.
void set_spin_time(std::optional<std::chrono::microseconds> time);

/// How a thread waits before it sleeps: to sleep and be woken takes 5 to 25 us on either side. Where there
/// are few processors, it lets other threads run meanwhile, and sleeps where these have much to do. Of one
/// thread at a time.
class Spinning {
 public:
  using Clock = std::chrono::steady_clock;

  /// @param in_memory news comes through shared memory: to look there disturbs nobody, unlike at a socket
  explicit Spinning(bool in_memory);
  /// There was news, or the thread begins to wait.
  void restart() { begun_ = false; }
  /// To be called after each look that brought nothing.
  /// @param now after that look began
  /// @returns whether to look once more; else it is time to sleep.
  bool go_on(Clock::time_point now);
  /// For how long to go on at most: what CLIQUE_SPIN_US asks for, else what suits this host.
  std::chrono::microseconds time() const { return time_; }

 private:
  const bool yields_;
  const std::chrono::microseconds time_;
  bool begun_ = false;
  Clock::time_point end_;
  Clock::time_point crowded_until_;
};

/// How much longer threads spin for transfers between a device and memory shared with it: of these the size
/// tells about when they end, and who has slept meanwhile is late by a part of their time. Nothing is added
/// where CLIQUE_SPIN_US says how long, or there are few processors.
class Vigil {
 public:
  using Clock = std::chrono::steady_clock;

  Vigil();
  /// A transfer of so many bytes follows those that are under way. Any thread.
  void prolong(std::uint64_t size);
  /// Whether all of them should have ended. Any thread.
  bool over(Clock::time_point now) const {
    return now.time_since_epoch().count() >= end_.load(std::memory_order_relaxed);
  }

 private:
  const bool kept_;
  std::atomic<Clock::rep> end_{0};
};

}  // namespace clique::protocol
