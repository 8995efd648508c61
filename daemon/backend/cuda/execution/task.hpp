#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/backend/cuda/execution/end_observer.hpp"
#include "daemon/backend/cuda/gpu/clock.hpp"
#include "daemon/backend/cuda/gpu/driver.hpp"

namespace clique::daemon::cuda {

struct Lane;
class Stream;
class Task;
using TaskRef = std::shared_ptr<Task>;

/// Something that the GPU has to do, or something that happens elsewhere and that tasks wait for.
///
/// A task is *held* while a task that it follows is held; the GPU does not know of it yet. Once it is
/// *submitted*, the GPU orders it by streams. It has ended when its stream has reached its sequence number.
class Task {
 public:
  // The following are set before the task is given to the Scheduler.

  /// Puts the work into a stream. Called once, on the main thread. If it throws ClError, the task fails with
  /// that status. May be empty: the task then only has a place in the order.
  std::function<void(CUstream)> run;
  /// Like `run`, and also has the GPU write the number to the word at the address afterwards, which marks the
  /// stream's progress. Called instead of `run` unless other streams' RunningKernels block it. May
  /// be empty.
  std::function<void(CUstream, CUdeviceptr, std::uint32_t)> run_and_mark;
  /// Whether `run_and_mark` is called only while a kernel of its own stream is under way.
  bool mark_only_after_kernel = false;
  /// Called when the GPU has completed the work; the result becomes the final status. On the same threads as
  /// `at_end`. May be empty. Tasks of the GPU that follow this one do not fail with it.
  std::function<cl_int()> verdict;
  /// Called once with the final status, on the main thread or on that of the Completions.
  std::function<void(Task&, cl_int)> at_end;
  /// What must live until the task ends. Released before the end is reported.
  std::vector<std::shared_ptr<const void>> keep;
  /// Name of the kernel that it launches; empty for other tasks. Lives as long as `keep`.
  std::string_view kernel;
  /// Whether the GPU's times are measured.
  bool timed = false;
  /// Whether it is enough that the host sees them (EndObserver).
  bool observed = false;
  /// Whether its end must be noticed at once, not only after the next flush.
  bool prompt = false;
  /// Whether others may wait for it: its end is then noticed before the next task of its stream ends.
  bool awaited = false;
  /// Whether it stands for the tasks that it waits for: it then fails with their status.
  bool stands_for_waits = false;
  std::int64_t queued = 0;  ///< host_clock() when the command came; only for queues with profiling

  /// The final status, else CL_QUEUED or CL_SUBMITTED. Any thread.
  cl_int status() const { return status_.load(std::memory_order_acquire); }
  bool ended() const { return status() <= CL_COMPLETE; }
  /// Has `action` called with the final status: now if the task has ended, else when it ends, on any thread.
  void when_ended(std::function<void(cl_int)> action);
  /// From now on, `tell` is called when the task becomes CL_SUBMITTED and CL_RUNNING, on any thread. Main
  /// thread.
  void watch(std::function<void(cl_int)> tell);

  /// When a timed task began and ended on the GPU, in host_clock() time. Valid from `at_end` on, if the task
  /// has completed.
  std::pair<std::int64_t, std::int64_t> times() const { return times_; }
  std::int64_t submitted() const { return submitted_; }

 private:
  friend class Scheduler;
  friend class Completions;

  struct Dependant {
    TaskRef task;
    bool only_order;  // a failure is not passed on
  };
  /// A point that a stream has to reach.
  struct Place {
    Stream* stream;
    std::uint32_t sequence;
  };

  /// The task has ended: releases what it kept, and reports the end.
  void conclude(cl_int status);
  /// times() of a task that has completed.
  std::pair<std::int64_t, std::int64_t> measured() const;
  void tell(cl_int state);

  std::atomic<cl_int> status_{CL_QUEUED};

  // Main thread.
  bool held_ = true;
  cl_int failure_ = CL_SUCCESS;  // the status that it will fail with
  unsigned unmet_ = 0;           // held tasks that it follows
  std::vector<TaskRef> after_;
  std::vector<Dependant> dependants_;
  std::shared_ptr<Lane> lane_;  // while it is held

  // Set at submission.
  Stream* stream_ = nullptr;
  std::uint32_t sequence_ = 0;
  std::vector<Place> blockers_;
  std::int64_t submitted_ = 0;
  Stopwatch stopwatch_;
  // Only of an observed task.
  std::shared_ptr<Sighting> end_;
  std::shared_ptr<const Sighting> before_;  // of its stream; null: none
  std::int64_t earliest_ = 0;               // the GPU cannot have begun before
  std::pair<std::int64_t, std::int64_t> times_{};

  std::mutex mutex_;  // guards what follows
  std::vector<std::function<void(cl_int)>> actions_;
  std::function<void(cl_int)> watcher_;
  std::atomic<bool> watched_ = false;
  cl_int told_ = CL_QUEUED;
};

}  // namespace clique::daemon::cuda
