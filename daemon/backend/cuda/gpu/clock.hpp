// Times of the GPU, on the host's clock.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "daemon/backend/cuda/gpu/driver.hpp"
#include "daemon/backend/cuda/gpu/event_pool.hpp"

namespace clique::daemon::cuda {

/// The current time, in nanoseconds of CLOCK_MONOTONIC, on which all times are. Any thread.
std::int64_t host_clock();

class GpuClock;

/// Measures one task. Its destructor gives the events back to the clock.
class Stopwatch {
 public:
  Stopwatch() = default;
  Stopwatch(Stopwatch&& other) noexcept { swap(other); }
  Stopwatch& operator=(Stopwatch&& other) noexcept {
    Stopwatch(std::move(other)).swap(*this);
    return *this;
  }
  ~Stopwatch();

  /// Puts the end into the stream. GpuClock::start() has put the beginning there.
  void stop(CUstream stream);
  /// Beginning and end in host_clock() time; 0 for what could not be measured. Only when the stream has
  /// reached the end. Any thread.
  /// @param submitted when the measured work was submitted, in host_clock() time: it has begun later
  std::pair<std::int64_t, std::int64_t> times(std::int64_t submitted) const;

 private:
  friend class GpuClock;
  void swap(Stopwatch& other) noexcept {
    std::swap(clock_, other.clock_);
    std::swap(begin_, other.begin_);
    std::swap(end_, other.end_);
    base_.swap(other.base_);
  }

  /// A moment on both clocks.
  struct Base {
    CUevent event = nullptr;
    /// The event's time in host_clock() time, or somewhat earlier. It only grows, so a time that is taken
    /// later is never before one that was taken earlier.
    std::atomic<std::int64_t> time = 0;
  };
  GpuClock* clock_ = nullptr;
  CUevent begin_ = nullptr;
  CUevent end_ = nullptr;
  std::shared_ptr<Base> base_;
};

/// Relates the GPU's times to the host's clock. CUDA events give only differences of times, which are the
/// less precise the longer they are, so a new base is made every second. Times agree with the host's within
/// microseconds; those of commands that follow each other are in their order.
class GpuClock {
 public:
  GpuClock() = default;
  GpuClock(const GpuClock&) = delete;
  GpuClock& operator=(const GpuClock&) = delete;

  /// Puts the beginning of a measurement into the stream. Main thread.
  Stopwatch start(CUstream stream);

 private:
  friend class Stopwatch;
  using Base = Stopwatch::Base;
  std::shared_ptr<Base> make_base();

  EventPool events_{CU_EVENT_DEFAULT};
  CUstream stream_ = nullptr;  // for bases
  std::shared_ptr<Base> base_;
};

}  // namespace clique::daemon::cuda
