#pragma once

#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "daemon/backend/cuda/execution/completions.hpp"

namespace clique::daemon::cuda {

/// The streams that one queue uses: one where it keeps the order of its tasks, else several.
struct Lane {
  bool in_order = true;
  std::vector<Stream*> streams;
  std::size_t next = 0;
};

/// Brings tasks into streams in the order of their dependencies. Main thread.
///
/// A dependency on a submitted task is left to the GPU: the same stream's order, or a wait for the other
/// stream's word. A task that comes after a held one is held, too, so that it never stands in a stream in the
/// way of tasks that need not wait.
class Scheduler {
 public:
  /// @param fault called, once, on any thread when the GPU turns out to have failed
  Scheduler(CUcontext context, std::function<void(CUresult)> fault, KernelLimit limit = {});
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  std::shared_ptr<Lane> make_lane(bool in_order);
  /// The streams will be used again, behind what is in them.
  void give_back(const Lane& lane);

  /// Submits the task, or holds it until it can be. It fails, without being run, where one of `waits` fails;
  /// of `order`, it only comes after.
  void enter(const TaskRef& task, const std::shared_ptr<Lane>& lane, std::span<const TaskRef> waits,
             std::span<const TaskRef> order);

  /// A task that is held until release(), which may meanwhile come after others.
  void hold(const TaskRef& task);
  /// The held task fails if `other` does, and comes after it.
  void come_after(const TaskRef& task, const TaskRef& other);
  /// Submits the held task, once what it comes after allows it.
  void release(const TaskRef& task, std::shared_ptr<Lane> lane);
  /// Ends a held task that is never submitted, since it happens elsewhere.
  void end(const TaskRef& task, cl_int status);

  /// Has the streams tell how far they come, for all tasks that were submitted. After a batch of commands.
  void flush();

  /// From now on it is told when the task runs.
  void watch(const TaskRef& task, std::function<void(cl_int)> tell);

  Completions& completions() { return completions_; }

 private:
  void add_dependency(const TaskRef& task, const TaskRef& other, bool only_order);
  /// Nothing holds the task any more: submits or fails it, and then those that it held.
  void proceed(TaskRef task);
  void submit(const TaskRef& task);
  /// @returns whether the stream leaves the next number when it has come here
  bool enqueue(Task& task, Stream& stream);
  /// Whether other streams run kernels, or may.
  bool kernels_beside(const Stream& stream) const;
  /// Takes the task from those that come after it. @returns those that are held no more.
  static std::vector<TaskRef> resolve(const TaskRef& task);
  Stream& choose(const Task& task, Lane& lane);
  /// Has the stream wait for the other task, on behalf of `task`.
  void wait_in(Stream& stream, const Task& other, Task& task);
  void mark(Stream& stream);
  /// The stream has been told to leave the next number.
  void marked(Stream& stream);
  Stream& take_stream();

  GpuClock clock_;
  std::function<void(CUresult)> fault_;
  const bool limited_;  ///< kernels have a limit, so that each is told ended by itself
  std::deque<std::unique_ptr<Stream>> streams_;
  std::vector<Stream*> free_;
  std::uint32_t* words_ = nullptr;  // of streams to come
  CUdeviceptr words_address_ = 0;
  std::size_t words_left_ = 0;
  std::vector<Stream*> dirty_;  // have unmarked tasks
  Completions completions_;
};

}  // namespace clique::daemon::cuda
