#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "daemon/backend/cuda/execution/stream.hpp"

namespace clique::daemon::cuda {

/// How long a kernel may run; 0: for ever.
struct KernelLimit {
  std::chrono::seconds time{0};
  /// Called once, on the Completions' thread, with the name of a kernel that runs longer.
  std::function<void(const std::string& kernel)> exceeded;
};

/// Sees tasks end: a thread that looks at the streams' words, first without pause, later now and then. A main
/// thread that has nothing to do looks in its stead: what there is to be told of a task is in its core's
/// cache.
class Completions {
 public:
  /// @param begin called first on the thread
  /// @param fault called on the thread, once, when the GPU turns out to have failed
  Completions(std::function<void()> begin, std::function<void(CUresult)> fault, KernelLimit limit = {});
  ~Completions();
  Completions(const Completions&) = delete;
  Completions& operator=(const Completions&) = delete;

  /// `tasks`, in their order, will be ended when the stream comes to their numbers. Any thread.
  void add(Stream& stream, std::vector<TaskRef>& tasks);
  /// Looks again which tasks are running. Any thread.
  void look() { ++generation_; }
  /// Ends what has ended; the thread does not for a moment. For the main thread, again and again.
  /// @returns whether there was any
  bool attend();
  /// What the GPU has not ended. For the end of the session: no task is ended from now on.
  std::vector<TaskRef> abandon();

 private:
  using Clock = std::chrono::steady_clock;
  void run();
  /// Tells of the tasks that have ended, and of those watched that have begun. Has the turn.
  /// @param heads gets the first tasks that are left of all streams
  /// @param overdue gets the name of a kernel that has run for too long; null: that is not looked for
  /// @returns whether a task has ended
  bool tell(std::vector<Task::Place>& heads, std::string* overdue);
  void collect(std::vector<Task::Place>& heads, std::string* overdue);
  /// Waits until a stream has come further, or there may be something new.
  void wait(Clock::time_point since);
  void look_for_fault();
  /// Whether the task, the stream's first, has been running for longer than a kernel may.
  bool is_overdue(Stream& stream, const Task& task, bool free) const;

  const std::function<void(CUresult)> fault_;
  KernelLimit limit_;
  const bool spin_;
  std::mutex mutex_;  // guards what follows, and the streams' pending tasks
  std::condition_variable changed_;
  std::vector<Stream*> active_;
  bool sleeping_ = false;
  bool stop_ = false;
  std::atomic<bool> faulty_{false};

  std::atomic<std::uint64_t> generation_ = 0;  // changes with `active_`
  std::atomic<Clock::rep> attended_until_ = 0;
  std::mutex turn_;  // of who looks; guards what follows
  std::vector<TaskRef> ended_;
  std::vector<TaskRef> begun_;
  std::vector<Task::Place> heads_attended_;
  // The thread's own.
  std::vector<Task::Place> heads_;
  std::uint64_t heads_of_ = ~std::uint64_t{0};
  Clock::time_point looked_;
  std::thread thread_;
};

}  // namespace clique::daemon::cuda
