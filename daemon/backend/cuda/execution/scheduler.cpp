#include "daemon/backend/cuda/execution/scheduler.hpp"

#include <algorithm>
#include <cstring>

#include "daemon/common/log.hpp"

namespace clique::daemon::cuda {

namespace {
/// Streams of an out-of-order queue.
constexpr std::size_t kStreamsOfLane = 4;
/// Distance of two progress words: the GPU writes and the host reads them all the time, so each has its own
/// cache line.
constexpr std::size_t kWordDistance = 64 / sizeof(std::uint32_t);
constexpr std::size_t kWordBlock = 64U << 10U;
/// Unmarked tasks after which a stream's progress is marked even without a flush.
constexpr std::size_t kManyUnmarked = 32;
}  // namespace

Scheduler::Scheduler(CUcontext context, std::function<void(CUresult)> fault, KernelLimit limit, Pacer* pacer)
    : use_context_([context] { driver().CtxSetCurrent(context); }),
      fault_(std::move(fault)),
      limited_(limit.time.count() != 0),
      pacer_(pacer),
      completions_(use_context_, fault_, std::move(limit)) {}

std::shared_ptr<Lane> Scheduler::make_lane(bool in_order) {
  auto lane = std::make_shared<Lane>();
  lane->in_order = in_order;
  for (std::size_t i = 0; i < (in_order ? 1 : kStreamsOfLane); ++i) lane->streams.push_back(&take_stream());
  return lane;
}

void Scheduler::give_back(const Lane& lane) {
  for (Stream* stream : lane.streams) RunningKernels::forget(*stream);
  free_.insert(free_.end(), lane.streams.begin(), lane.streams.end());
}

Stream& Scheduler::take_stream() {
  if (!free_.empty()) {
    Stream* stream = free_.back();
    free_.pop_back();
    return *stream;
  }
  if (words_left_ == 0) {
    void* block = nullptr;
    CLIQUE_CUDA(MemHostAlloc(&block, kWordBlock, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
    std::memset(block, 0, kWordBlock);
    words_ = static_cast<std::uint32_t*>(block);
    CLIQUE_CUDA(MemHostGetDevicePointer(&words_address_, block, 0));
    words_left_ = kWordBlock / sizeof(std::uint32_t) / kWordDistance;
  }
  streams_.push_back(
      std::make_unique<Stream>(static_cast<unsigned>(streams_.size()), words_, words_address_));
  words_ += kWordDistance;
  words_address_ += kWordDistance * sizeof(std::uint32_t);
  --words_left_;
  return *streams_.back();
}

void Scheduler::enter(const TaskRef& task, const std::shared_ptr<Lane>& lane, std::span<const TaskRef> waits,
                      std::span<const TaskRef> order) {
  for (const TaskRef& other : waits) add_dependency(task, other, false);
  for (const TaskRef& other : order) add_dependency(task, other, true);
  task->lane_ = lane;
  if (task->unmet_ == 0) proceed(task);
}

void Scheduler::hold(const TaskRef& task) {
  ++task->unmet_;
}

void Scheduler::come_after(const TaskRef& task, const TaskRef& other) {
  add_dependency(task, other, false);
}

void Scheduler::release(const TaskRef& task, std::shared_ptr<Lane> lane) {
  task->lane_ = std::move(lane);
  if (--task->unmet_ == 0) proceed(task);
}

void Scheduler::end(const TaskRef& task, cl_int status) {
  if (!task->held_) return;
  task->failure_ = std::min(status, 0);
  task->held_ = false;
  task->conclude(status);
  for (TaskRef& ready : resolve(task)) proceed(std::move(ready));
}

void Scheduler::add_dependency(const TaskRef& task, const TaskRef& other, bool only_order) {
  // A failure is known here before the GPU sees the task; only submitted tasks are the GPU's.
  const cl_int failure = other->failure_;
  if (failure != CL_SUCCESS && !other->held_) {
    if (!only_order)
      task->failure_ = task->stands_for_waits ? failure : CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
  }
  if (other->ended()) return;
  if (other->held_) {
    other->dependants_.push_back({task, only_order});
    ++task->unmet_;
  }
  task->after_.push_back(other);
}

std::vector<TaskRef> Scheduler::resolve(const TaskRef& task) {
  std::vector<TaskRef> ready;
  for (auto& [dependant, only_order] : task->dependants_) {
    if (task->failure_ != CL_SUCCESS && !only_order)
      dependant->failure_ =
          dependant->stands_for_waits ? task->failure_ : CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    if (--dependant->unmet_ == 0) ready.push_back(std::move(dependant));
  }
  task->dependants_.clear();
  return ready;
}

void Scheduler::proceed(TaskRef task) {
  // A loop instead of recursion, since chains may have thousands of tasks.
  std::vector<TaskRef> ready;
  for (std::size_t next = 0;; ++next) {
    task->held_ = false;
    if (task->failure_ != CL_SUCCESS) {
      task->after_.clear();
      task->conclude(task->failure_);
    } else {
      submit(task);
    }
    task->lane_.reset();
    for (TaskRef& held : resolve(task)) ready.push_back(std::move(held));
    if (next == ready.size()) return;
    task = std::move(ready[next]);
  }
}

void Scheduler::submit(const TaskRef& task) {
  Stream& stream = choose(*task, *task->lane_);
  task->stream_ = &stream;
  if (pacer_ != nullptr && !task->kernel.empty())
    if (auto counted = pacer_->launch(0)) task->keep.push_back(std::move(counted));
  const bool alone = limited_ && !task->kernel.empty();
  if (!stream.unmarked_.empty() && (alone || stream.unmarked_.back()->awaited)) mark(stream);
  task->submitted_ = task->timed ? host_clock() : 0;
  bool leaves_number = false;
  try {
    leaves_number = enqueue(*task, stream);
  } catch (const ClError& error) {
    spdlog::warn("a command could not be submitted to the GPU: {}", error.what());
    // A part of it may be in the stream, so it ends when the stream has reached it.
    task->failure_ = error.status();
  }
  task->after_.clear();
  const bool nothing = !task->run && !task->timed && task->blockers_.empty();
  task->run = nullptr;
  task->run_and_mark = nullptr;
  task->status_.store(CL_SUBMITTED, std::memory_order_release);
  if (task->watched_) task->tell(CL_SUBMITTED);
  stream.last_ = task.get();
  if (nothing && stream.unmarked_.empty()) {
    task->sequence_ = stream.issued_;
    std::vector<TaskRef> one{task};
    completions_.add(stream, one);
    return;
  }
  task->sequence_ = stream.issued_ + 1;
  if (!task->kernel.empty()) running_kernels_.submitted(stream, task->sequence_);
  if (stream.unmarked_.empty()) dirty_.push_back(&stream);
  stream.unmarked_.push_back(task);
  if (leaves_number)
    marked(stream);
  else if (task->prompt || alone || stream.unmarked_.size() >= kManyUnmarked)
    mark(stream);
}

bool Scheduler::enqueue(Task& task, Stream& stream) {
  for (const TaskRef& other : task.after_) wait_in(stream, *other, task);
  const bool stamped = task.timed && !task.observed;
  // The host does not see when the stream has waited for others.
  if (stamped || (task.timed && !task.blockers_.empty())) task.stopwatch_ = clock_.start(stream.native());
  const bool leaves_number = task.run_and_mark && !stamped &&
                             (!task.mark_only_after_kernel || !stream.reached(stream.last_kernel_)) &&
                             !running_kernels_.block(stream);
  if (leaves_number)
    task.run_and_mark(stream.native(), stream.address_, stream.issued_ + 1);
  else if (task.run)
    task.run(stream.native());
  if (stamped)
    task.stopwatch_.stop(stream.native());
  else if (task.timed)
    observe(task, stream);
  return leaves_number;
}

void Scheduler::observe(Task& task, Stream& stream) {
  // A launch takes the driver some microseconds, at whose end the GPU learns of it.
  task.earliest_ = task.kernel.empty() ? task.submitted_ : host_clock();
  if (!observer_) observer_.emplace(use_context_);
  task.before_ = std::move(stream.last_sighting_);
  task.end_ = observer_->observe(stream.native(), stream.index_);
  stream.last_sighting_ = task.end_;
}

Stream& Scheduler::choose(const Task& task, Lane& lane) {
  // If a task that it follows is the last of its stream, no stream has to wait for another.
  for (const TaskRef& other : task.after_)
    if (other->stream_ != nullptr && other->stream_->last_ == other.get() &&
        std::find(lane.streams.begin(), lane.streams.end(), other->stream_) != lane.streams.end())
      return *other->stream_;
  lane.next = (lane.next + 1) % lane.streams.size();
  return *lane.streams[lane.next];
}

void Scheduler::wait_in(Stream& stream, const Task& other, Task& task) {
  if (other.stream_ == nullptr || other.stream_ == &stream) return;
  Stream& from = *other.stream_;
  if (from.reached(other.sequence_)) return;
  if (static_cast<std::int32_t>(from.issued_ - other.sequence_) < 0) mark(from);
  task.blockers_.push_back({&from, other.sequence_});
  if (stream.seen_.size() <= from.index_) stream.seen_.resize(from.index_ + 1);
  std::uint32_t& seen = stream.seen_[from.index_];
  if (static_cast<std::int32_t>(seen - other.sequence_) >= 0) return;
  CLIQUE_CUDA(StreamWaitValue32(stream.native(), from.address_, other.sequence_, CU_STREAM_WAIT_VALUE_GEQ));
  seen = other.sequence_;
}

void Scheduler::mark(Stream& stream) {
  const CUresult result =
      driver().StreamWriteValue32(stream.native(), stream.address_, stream.issued_ + 1, 0);
  marked(stream);
  // Without the mark, the tasks in the stream would never end.
  if (result != CUDA_SUCCESS) fault_(result);
}

void Scheduler::marked(Stream& stream) {
  ++stream.issued_;
  std::erase(dirty_, &stream);
  completions_.add(stream, stream.unmarked_);
}

void Scheduler::flush() {
  while (!dirty_.empty()) mark(*dirty_.back());
}

void Scheduler::watch(const TaskRef& task, std::function<void(cl_int)> tell) {
  task->watch(std::move(tell));
  completions_.look();
}

}  // namespace clique::daemon::cuda
