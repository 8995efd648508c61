#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>

namespace clique::protocol {

/// The time in which at least one of several things was going on. Any thread.
class BusyTime {
 public:
  /// One of them has begun.
  void begin() {
    const std::lock_guard lock(mutex_);
    if (count_++ == 0) since_ = Clock::now();
  }
  /// One of those that have begun has ended.
  void end() {
    const std::lock_guard lock(mutex_);
    if (--count_ == 0) ended_ += Clock::now() - since_;
  }
  /// Up to now.
  std::chrono::nanoseconds total() const {
    const std::lock_guard lock(mutex_);
    return count_ == 0 ? ended_ : ended_ + (Clock::now() - since_);
  }

  /// Something that goes on as long as this object lives.
  class Span {
   public:
    explicit Span(BusyTime& time) : time_(time) { time_.begin(); }
    ~Span() { time_.end(); }
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;

   private:
    BusyTime& time_;
  };

 private:
  using Clock = std::chrono::steady_clock;

  mutable std::mutex mutex_;  // guards the members below
  std::size_t count_ = 0;     // of what goes on now
  Clock::time_point since_;   // if anything goes on
  std::chrono::nanoseconds ended_{0};
};

}  // namespace clique::protocol
