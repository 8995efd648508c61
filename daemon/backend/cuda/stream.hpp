#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "daemon/backend/cuda/task.hpp"

namespace clique::daemon::cuda {

/// A stream, and a word of host memory in which it leaves how far it has come.
class Stream {
 public:
  /// @param word of pinned host memory, 0; `address` is the GPU's for it
  Stream(unsigned index, const std::uint32_t* word, CUdeviceptr address);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  CUstream native() const { return native_; }
  /// Whether the stream has come to the sequence number. Any thread.
  bool reached(std::uint32_t sequence) const {
    return static_cast<std::int32_t>(__atomic_load_n(word_, __ATOMIC_ACQUIRE) - sequence) >= 0;
  }

 private:
  friend class Scheduler;
  friend class Completions;

  const unsigned index_;
  const std::uint32_t* const word_;
  const CUdeviceptr address_;
  CUstream native_ = nullptr;

  // Main thread.
  std::uint32_t issued_ = 0;         // the last number that the stream was told to leave
  std::vector<TaskRef> unmarked_;    // tasks that the next number will tell ended
  const Task* last_ = nullptr;       // the latest submitted
  std::vector<std::uint32_t> seen_;  // by the index of another stream: how far it has been waited for

  // Guarded by the Completions.
  std::deque<TaskRef> pending_;
  bool active_ = false;
};

/// Sees tasks end: a thread that looks at the streams' words, first without pause, later now and then.
class Completions {
 public:
  /// @param begin called first on the thread
  /// @param fault called on the thread, once, when the GPU turns out to have failed
  Completions(std::function<void()> begin, std::function<void(CUresult)> fault);
  ~Completions();
  Completions(const Completions&) = delete;
  Completions& operator=(const Completions&) = delete;

  /// `tasks`, in their order, will be ended when the stream comes to their numbers. Any thread.
  void add(Stream& stream, std::vector<TaskRef>& tasks);
  /// Looks again which tasks are running. Any thread.
  void look() { ++generation_; }
  /// What the GPU has not ended. For the end of the session: no task is ended from now on.
  std::vector<TaskRef> abandon();

 private:
  using Clock = std::chrono::steady_clock;
  void run();
  /// Takes the tasks that have ended, and those watched that have begun. @returns whether any task is left.
  bool collect(std::vector<TaskRef>& ended, std::vector<TaskRef>& begun);
  /// Waits until a stream has come further, or there may be something new.
  void wait(Clock::time_point since);
  void look_for_fault();

  const std::function<void(CUresult)> fault_;
  const bool spin_;
  std::mutex mutex_;  // guards what follows, and the streams' pending tasks
  std::condition_variable changed_;
  std::vector<Stream*> active_;
  bool sleeping_ = false;
  bool stop_ = false;
  std::atomic<bool> faulty_{false};

  std::atomic<std::uint64_t> generation_ = 0;  // changes with `active_`
  // The thread's own.
  std::vector<Task::Place> heads_;
  std::uint64_t heads_of_ = ~std::uint64_t{0};
  Clock::time_point looked_;
  std::thread thread_;
};

}  // namespace clique::daemon::cuda
