// The worker's clock, as this process knows it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>

#include "icd/remote/link/clock.hpp"

namespace clique::icd {

class Answers;
class Inbox;
class Outbox;

/// Asks a worker for its time (protocol::SyncClock) and estimates how far its clock is ahead of ours.
class WorkerClock {
 public:
  WorkerClock(Answers& answers, Outbox& outbox) : answers_(answers), outbox_(outbox) {}

  /// Measures while the link opens: makes several exchanges, and waits for them until `deadline` at most.
  /// @returns false if an answer did not come by then.
  bool measure(Inbox& inbox, std::chrono::steady_clock::time_point deadline);
  /// Lets tick() measure from now on. Any thread.
  void start() { started_.store(true); }
  /// Makes another exchange every two seconds, if the one before was answered. For the background thread;
  /// does not wait.
  void tick(std::chrono::steady_clock::time_point now);

  /// The worker's clock minus ours (CLOCK_MONOTONIC), in ns. Any thread.
  std::int64_t offset() const { return offset_.load(std::memory_order_relaxed); }
  /// The shortest round trip so far; one second if there was none. For the thread that has called measure().
  std::chrono::nanoseconds round_trip() const { return std::chrono::nanoseconds(round_trip_); }

 private:
  /// Adds a request to the outbox. `answered` is called on the receiving thread when the answer, or the loss
  /// of the link, has been noted. @returns false if the link is lost.
  bool ask(std::function<void()> answered);
  void note(std::int64_t asked, std::int64_t theirs, std::int64_t arrived);

  Answers& answers_;
  Outbox& outbox_;
  std::atomic<bool> started_{false};
  std::atomic<std::int64_t> offset_{0};
  std::atomic<bool> asking_{false};  // tick()'s last exchange has not been answered

  // The receiving thread's.
  ClockEstimate estimate_;
  std::int64_t round_trip_ = 1'000'000'000;

  // The background thread's.
  std::chrono::steady_clock::time_point asked_;
};

}  // namespace clique::icd
