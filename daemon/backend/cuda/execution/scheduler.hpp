#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "daemon/backend/cuda/execution/completions.hpp"
#include "daemon/backend/cuda/execution/running_kernels.hpp"
#include "daemon/worker/limits/pacer.hpp"

namespace clique::daemon::cuda {

/// The streams of one queue: one if the queue keeps the order of its tasks, else several.
struct Lane {
  bool in_order = true;
  std::vector<Stream*> streams;
  std::size_t next = 0;
};

/// Puts tasks into streams in the order of their dependencies. Main thread.
///
/// The GPU itself waits for submitted tasks: by the order within a stream, or with a wait for another
/// stream's progress word. A task that follows a held task is held too, so that it never blocks a stream for
/// tasks that need not wait.
class Scheduler {
 public:
  /// @param fault called on any thread when the GPU fails
  /// @param pacer counts the kernels that are submitted; null: nobody does
  Scheduler(CUcontext context, std::function<void(CUresult)> fault, KernelLimit limit = {},
            Pacer* pacer = nullptr);
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  std::shared_ptr<Lane> make_lane(bool in_order);
  /// The lane's streams may be used by other lanes, behind the tasks that are in them.
  void give_back(const Lane& lane);

  /// Submits the task, or holds it until it can be submitted. If one of `waits` fails, it fails without
  /// running. It follows the tasks of `order` however they end.
  void enter(const TaskRef& task, const std::shared_ptr<Lane>& lane, std::span<const TaskRef> waits,
             std::span<const TaskRef> order);

  /// Holds the task until release() or end().
  void hold(const TaskRef& task);
  /// Lets the held task follow `other`, and fail if `other` fails.
  void come_after(const TaskRef& task, const TaskRef& other);
  /// Submits the held task, once nothing that it follows is held.
  void release(const TaskRef& task, std::shared_ptr<Lane> lane);
  /// Ends a held task without submitting it, since what it stands for happened elsewhere.
  void end(const TaskRef& task, cl_int status);

  /// Has the streams mark their progress behind all submitted tasks. To be called after each batch of
  /// commands.
  void flush();

  /// As Task::watch().
  void watch(const TaskRef& task, std::function<void(cl_int)> tell);

  Completions& completions() { return completions_; }

 private:
  void add_dependency(const TaskRef& task, const TaskRef& other, bool only_order);
  /// Nothing holds the task any more: submits or fails it, and then the tasks that it held.
  void proceed(TaskRef task);
  void submit(const TaskRef& task);
  /// Puts the task's work into the stream. @returns whether that also marks the stream's progress.
  bool enqueue(Task& task, Stream& stream);
  /// Has the host note when the task ends, which is the last one in the stream.
  void observe(Task& task, Stream& stream);
  /// The task is held no more. @returns the tasks that were held by it alone.
  static std::vector<TaskRef> resolve(const TaskRef& task);
  Stream& choose(const Task& task, Lane& lane);
  /// Has the stream wait until `other`, a task of another stream, has ended. `task` follows it.
  void wait_in(Stream& stream, const Task& other, Task& task);
  /// Has the stream write the next number to its progress word.
  void mark(Stream& stream);
  /// The stream was told to write the next number.
  void marked(Stream& stream);
  Stream& take_stream();

  GpuClock clock_;
  const std::function<void()> use_context_;
  std::optional<EndObserver> observer_;  // from the first observed task on
  std::function<void(CUresult)> fault_;
  const bool limited_;  // kernels have a time limit, so each is marked by itself
  Pacer* const pacer_;
  std::deque<std::unique_ptr<Stream>> streams_;
  std::vector<Stream*> free_;
  std::uint32_t* words_ = nullptr;  // progress words for further streams
  CUdeviceptr words_address_ = 0;
  std::size_t words_left_ = 0;
  std::vector<Stream*> dirty_;  // have unmarked tasks
  RunningKernels running_kernels_;
  Completions completions_;
};

}  // namespace clique::daemon::cuda
