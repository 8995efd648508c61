#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "daemon/backend/cuda/execution/polling.hpp"
#include "daemon/backend/cuda/gpu/driver.hpp"
#include "daemon/backend/cuda/gpu/event_pool.hpp"

namespace clique::daemon::cuda {

/// When the host has seen that a stream has reached a point.
class Sighting {
 public:
  /// In host_clock() time; 0 if it has not been seen. Any thread.
  std::int64_t time() const { return time_.load(std::memory_order_acquire); }
  /// It was reached at `now` or earlier, in host_clock() time. @returns when it was seen. Any thread.
  std::int64_t seen(std::int64_t now) {
    std::int64_t first = 0;
    return time_.compare_exchange_strong(first, now) ? now : first;
  }

 private:
  std::atomic<std::int64_t> time_ = 0;
};

/// Notes when streams reach points, without costing the GPU time: its thread polls events that the GPU does
/// not stamp with the time. A stamp keeps the next kernel from starting for about two microseconds
/// (Stopwatch), whereas this costs the main thread one microsecond for a point. The times are late by how
/// long the host needs to see an event, about a microsecond.
class EndObserver {
 public:
  /// @param begin called first on the thread
  explicit EndObserver(std::function<void()> begin);
  ~EndObserver();
  EndObserver(const EndObserver&) = delete;
  EndObserver& operator=(const EndObserver&) = delete;

  /// Has the time noted at which the stream has done all that is in it. Main thread.
  /// @param index of the stream
  std::shared_ptr<Sighting> observe(CUstream stream, std::size_t index);

 private:
  struct Point {
    CUevent event;
    std::size_t stream;
    std::shared_ptr<Sighting> sighting;
  };

  void run();
  /// Takes the new points over.
  /// @param wait for new points
  /// @returns how many there are; nothing at the end
  std::optional<std::size_t> exchange(bool wait);
  /// @returns whether a point was reached
  bool look();

  const Polling polling_;
  EventPool events_{CU_EVENT_DISABLE_TIMING};
  // Of the thread.
  std::vector<std::deque<Point>> streams_;
  std::size_t waiting_ = 0;  // points that were not reached

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::vector<Point> added_;
  bool sleeping_ = false;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace clique::daemon::cuda
