#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/backend/cuda/gpu/clock.hpp"
#include "daemon/backend/cuda/gpu/driver.hpp"

namespace clique::daemon::cuda {

struct Lane;
class Stream;
class Task;
using TaskRef = std::shared_ptr<Task>;

/// Something that the GPU is to do, or something that happens elsewhere and that tasks wait for.
///
/// A task is *held* while something that it comes after is held: then nothing of it is known to the GPU. Once
/// it is *submitted*, the order of the streams does the rest; it has ended when its stream has come to its
/// sequence number.
class Task {
 public:
  // To be set before the task is given to the Scheduler.

  /// Puts the work into a stream; called once, on the main thread. May throw ClError, which then is how the
  /// task ends. Empty: nothing to be done but to come after others.
  std::function<void(CUstream)> run;
  /// The same, together with what otherwise is done behind it: that the word at this address becomes this
  /// number. Called instead of `run` where no other stream has kernels under way. May be empty.
  std::function<void(CUstream, CUdeviceptr, std::uint32_t)> run_and_mark;
  /// Called once with the final status, on the main thread or that of the Completions.
  std::function<void(Task&, cl_int)> at_end;
  /// What must live until the end; let go of before the end is told.
  std::vector<std::shared_ptr<const void>> keep;
  /// Of the kernel that it launches; lives as long as `keep`.
  std::string_view kernel;
  /// Whether start and end are to be measured.
  bool timed = false;
  /// The end is wanted soon: not only at the next flush.
  bool prompt = false;
  /// Others may wait for it: its end is told before that of what follows it in its stream.
  bool awaited = false;
  /// Fails as what it waits for failed, since it stands for that.
  bool stands_for_waits = false;
  std::int64_t queued = 0;  ///< host_clock() when the command came

  /// The final status, else CL_QUEUED or CL_SUBMITTED. Any thread.
  cl_int status() const { return status_.load(std::memory_order_acquire); }
  bool ended() const { return status() <= CL_COMPLETE; }
  /// Has `action` called with the final status, now or at the end, from any thread.
  void when_ended(std::function<void(cl_int)> action);
  /// From now on `tell` is called with CL_SUBMITTED and CL_RUNNING, from any thread. Main thread.
  void watch(std::function<void(cl_int)> tell);

  /// Begin and end on the GPU, in host_clock() time, of a timed task that ended well; from `at_end` on.
  std::pair<std::int64_t, std::int64_t> times() const { return times_; }
  std::int64_t submitted() const { return submitted_; }

 private:
  friend class Scheduler;
  friend class Completions;

  struct Dependant {
    TaskRef task;
    bool only_order;  // a failure does not pass on
  };
  /// Where a stream has to have come.
  struct Place {
    Stream* stream;
    std::uint32_t sequence;
  };

  /// The end: lets go of what it kept, and reports it.
  void conclude(cl_int status);
  void tell(cl_int state);

  std::atomic<cl_int> status_{CL_QUEUED};

  // Main thread.
  bool held_ = true;
  cl_int failure_ = CL_SUCCESS;  // how it will end: of what it waits for, or of its own
  unsigned unmet_ = 0;           // held tasks that it comes after
  std::vector<TaskRef> after_;
  std::vector<Dependant> dependants_;
  std::shared_ptr<Lane> lane_;  // while it is held

  // Set at submission.
  Stream* stream_ = nullptr;
  std::uint32_t sequence_ = 0;
  std::vector<Place> blockers_;
  std::int64_t submitted_ = 0;
  Stopwatch stopwatch_;
  std::pair<std::int64_t, std::int64_t> times_{};

  std::mutex mutex_;  // guards what follows
  std::vector<std::function<void(cl_int)>> actions_;
  std::function<void(cl_int)> watcher_;
  std::atomic<bool> watched_ = false;
  cl_int told_ = CL_QUEUED;
};

}  // namespace clique::daemon::cuda
