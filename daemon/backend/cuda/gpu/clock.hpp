// When things happened on the GPU, in the host's time.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "daemon/backend/cuda/gpu/driver.hpp"

namespace clique::daemon::cuda {

/// Now, in nanoseconds of the clock that all times are on. Any thread.
std::int64_t host_clock();

class GpuClock;

/// Measures one task. Movable; gives its events back to the clock.
class Stopwatch {
 public:
  Stopwatch() = default;
  Stopwatch(Stopwatch&& other) noexcept { swap(other); }
  Stopwatch& operator=(Stopwatch&& other) noexcept {
    Stopwatch(std::move(other)).swap(*this);
    return *this;
  }
  ~Stopwatch();

  /// Puts the end into the stream; the begin was put there by GpuClock::start().
  void stop(CUstream stream);
  /// Begin and end in host_clock() time, once the stream has come to the end. Any thread.
  std::pair<std::int64_t, std::int64_t> times() const;

 private:
  friend class GpuClock;
  void swap(Stopwatch& other) noexcept {
    std::swap(clock_, other.clock_);
    std::swap(begin_, other.begin_);
    std::swap(end_, other.end_);
    base_.swap(other.base_);
  }

  /// A moment that is known on both clocks.
  struct Base {
    CUevent event = nullptr;
    std::int64_t time = 0;
  };
  GpuClock* clock_ = nullptr;
  CUevent begin_ = nullptr;
  CUevent end_ = nullptr;
  std::shared_ptr<const Base> base_;
};

/// The GPU's events give differences of time only, with a precision that falls with their length; so every
/// second another moment is related to the host's clock.
class GpuClock {
 public:
  GpuClock() = default;
  GpuClock(const GpuClock&) = delete;
  GpuClock& operator=(const GpuClock&) = delete;

  /// Puts the begin into the stream. Main thread.
  Stopwatch start(CUstream stream);

 private:
  friend class Stopwatch;
  using Base = Stopwatch::Base;
  std::shared_ptr<const Base> make_base();
  CUevent take();
  void give_back(CUevent event);

  std::mutex mutex_;
  std::vector<CUevent> free_;
  CUstream stream_ = nullptr;  // for bases
  std::shared_ptr<const Base> base_;
};

}  // namespace clique::daemon::cuda
