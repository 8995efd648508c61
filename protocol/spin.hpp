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

/// What CLIQUE_SPIN_US asks for, else what suits this host: to sleep and be woken takes some 10 us on either
/// side, but where there is no processor to spare, who spins keeps the other side from its work.
/// @param least processors that there have to be, for any time but 0
/// @param in_memory news comes through shared memory: to look there disturbs nobody, unlike at a socket
std::chrono::microseconds spin_time(unsigned least, bool in_memory);

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
