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

#include "daemon/backend/cuda/execution/polling.hpp"
#include "daemon/backend/cuda/execution/stream.hpp"

namespace clique::daemon::cuda {

/// How long a kernel may run; 0: without limit.
struct KernelLimit {
  std::chrono::seconds time{0};
  /// Called once, on the thread of the Completions, with the name of a kernel that runs longer.
  std::function<void(const std::string& kernel)> exceeded;
};

/// Notices that tasks end. Its thread polls the streams' progress words: first without pause, later with
/// growing pauses. While the main thread has nothing else to do, it polls instead, since it has the tasks in
/// its cache.
class Completions {
 public:
  /// @param begin called first on the thread
  /// @param fault called once on the thread, if the GPU fails
  Completions(std::function<void()> begin, std::function<void(CUresult)> fault, KernelLimit limit = {});
  ~Completions();
  Completions(const Completions&) = delete;
  Completions& operator=(const Completions&) = delete;

  /// From now on, ends the tasks when the stream reaches their numbers, which rise. Empties `tasks`. Any
  /// thread.
  void add(Stream& stream, std::vector<TaskRef>& tasks);
  /// Looks again which watched tasks are running. Any thread.
  void look() { ++generation_; }
  /// Ends the tasks that have ended. The thread does not look for a moment. To be called again and again, on
  /// the main thread.
  /// @returns whether there were any
  bool attend();
  /// Whether a task has been added that was not seen to end. Any thread.
  bool awaits() const { return awaits_.load(std::memory_order_relaxed); }
  /// Takes out the tasks that the GPU has not ended; no task ends from now on. For the end of the session.
  std::vector<TaskRef> abandon();

 private:
  using Clock = Polling::Clock;
  void run();
  /// Reports the tasks that have ended, and the watched ones that have begun. The caller holds `turn_`.
  /// @param heads gets the first remaining task of each stream
  /// @param overdue gets the name of a kernel that has run for too long; null: not looked for
  /// @returns whether a task has ended
  bool tell(std::vector<Task::Place>& heads, std::string* overdue);
  void collect(std::vector<Task::Place>& heads, std::string* overdue);
  /// Waits until a head has ended, or tasks may have been added.
  void wait(Clock::time_point since);
  void look_for_fault();
  /// Whether the task has been running for longer than the limit. It is the stream's first.
  /// @param free whether nothing that it follows is still under way
  bool is_overdue(Stream& stream, const Task& task, bool free) const;

  const std::function<void(CUresult)> fault_;
  KernelLimit limit_;
  const Polling polling_;
  std::mutex mutex_;  // guards what follows, and the streams' pending tasks
  std::condition_variable changed_;
  std::vector<Stream*> active_;
  bool sleeping_ = false;
  bool stop_ = false;
  std::atomic<bool> faulty_{false};

  std::atomic<std::uint64_t> generation_ = 0;  // changes with `active_`
  std::atomic<bool> awaits_ = false;           // whether `active_` has any
  std::atomic<Clock::rep> attended_until_ = 0;
  std::mutex turn_;  // held by the thread that looks; guards what follows
  std::vector<TaskRef> ended_;
  std::vector<TaskRef> begun_;
  std::vector<Task::Place> heads_attended_;
  // Of the thread alone.
  std::vector<Task::Place> heads_;
  std::uint64_t heads_of_ = ~std::uint64_t{0};
  Clock::time_point looked_;
  std::thread thread_;
};

}  // namespace clique::daemon::cuda
