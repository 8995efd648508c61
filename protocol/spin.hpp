// How long a thread that waits for another process spins before it sleeps.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace clique::protocol {

/// Parses CLIQUE_SPIN_US: 0 to 1000000 microseconds.
/// @returns nothing if `text` is null or empty. Throws std::runtime_error, with a readable reason, if it is
/// anything else.
std::optional<std::chrono::microseconds> parse_spin_time(const char* text);

/// Sets how long threads of this process spin, for each Spinning and Vigil that is constructed from now on;
/// nothing, as before the first call: a time that suits this host. Thread-safe.
void set_spin_time(std::optional<std::chrono::microseconds> time);

/// Whether this process may run on so many processors that a thread which spins or wakes often takes nothing
/// from others.
bool spare_processors();

/// How a thread spins before it sleeps, since sleeping and waking take 5 to 25 us on either side. On a host
/// with few processors it yields to other threads between two looks, and sleeps if they keep it waiting. With
/// many it does so later, and only while it expects something. Used by one thread at a time.
class Spinning {
 public:
  using Clock = std::chrono::steady_clock;

  /// @param in_memory the thread looks into shared memory, which disturbs no other thread, unlike polling a
  /// socket
  explicit Spinning(bool in_memory);
  /// Something arrived, or the thread begins to wait.
  void restart() { begun_ = false; }
  /// To be called after each look that found nothing.
  /// @param now a time after that look began
  /// @param expects whether a command, or data, is under way that the thread waits for. It then goes on for
  /// patience().
  /// @returns whether to look again; false: it is time to sleep.
  bool go_on(Clock::time_point now, bool expects);
  /// Longest time to spin: that of set_spin_time(), or else a time that suits this host.
  std::chrono::microseconds time() const { return time_; }
  /// Longest time to spin while something is expected; not less than time().
  std::chrono::microseconds patience() const { return patience_; }

 private:
  const bool yields_;
  const std::chrono::microseconds time_;
  const std::chrono::microseconds patience_;
  bool begun_ = false;
  Clock::time_point begin_;
  Clock::time_point crowded_until_;
};

/// Lets threads spin longer while data is transferred between a device and memory that is shared with it. The
/// size of such a transfer tells about when it completes, and a thread that sleeps meanwhile notices it late
/// by a part of the transfer's time. Adds nothing if set_spin_time() was given a time, or on a host with few
/// processors.
class Vigil {
 public:
  using Clock = std::chrono::steady_clock;

  Vigil();
  /// A transfer of `size` bytes follows those in progress. Thread-safe.
  void prolong(std::uint64_t size);
  /// Whether all transfers should have completed. Thread-safe.
  bool over(Clock::time_point now) const {
    return now.time_since_epoch().count() >= end_.load(std::memory_order_relaxed);
  }

 private:
  const bool kept_;
  std::atomic<Clock::rep> end_{0};
};

}  // namespace clique::protocol
