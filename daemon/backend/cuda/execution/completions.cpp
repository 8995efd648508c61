#include "daemon/backend/cuda/execution/completions.hpp"

#include <pthread.h>

#include <algorithm>

namespace clique::daemon::cuda {

namespace {

using namespace std::chrono_literals;

/// After the main thread has polled, the thread does not for this long: a little longer than the main thread
/// takes to submit a command. If the thread polled meanwhile, it would take over what the main thread needs
/// next.
constexpr auto kAttended = 10us;
/// While nothing happens, how often to ask the driver whether the GPU still works.
constexpr auto kFaultInterval = 2ms;

}  // namespace

Completions::Completions(std::function<void()> begin, std::function<void(CUresult)> fault, KernelLimit limit)
    : fault_(std::move(fault)), limit_(std::move(limit)), thread_([this, begin = std::move(begin)] {
        begin();
        run();
      }) {}

Completions::~Completions() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  ++generation_;
  changed_.notify_all();
  thread_.join();
}

void Completions::add(Stream& stream, std::vector<TaskRef>& tasks) {
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    for (TaskRef& task : tasks) stream.pending_.push_back(std::move(task));
    if (!stream.active_) {
      stream.active_ = true;
      active_.push_back(&stream);
      awaits_.store(true, std::memory_order_relaxed);
      ++generation_;
    }
    wake = sleeping_;
  }
  tasks.clear();
  if (wake) changed_.notify_one();
}

std::vector<TaskRef> Completions::abandon() {
  std::vector<TaskRef> left;
  const std::lock_guard lock(mutex_);
  faulty_ = true;
  for (Stream* stream : active_) {
    left.insert(left.end(), stream->pending_.begin(), stream->pending_.end());
    stream->pending_.clear();
    stream->active_ = false;
  }
  active_.clear();
  awaits_.store(false, std::memory_order_relaxed);
  ++generation_;
  return left;
}

void Completions::run() {
  ::pthread_setname_np(::pthread_self(), "completions");
  Polling::be_punctual();
  auto since = Clock::now();
  looked_ = since;
  while (true) {
    std::string overdue;
    const auto former = heads_of_;
    heads_of_ = generation_.load();
    bool progress = heads_of_ != former;
    {
      const std::lock_guard turn(turn_);
      progress = tell(heads_, &overdue) || progress;
    }
    if (!overdue.empty()) {
      limit_.time = {};
      limit_.exceeded(overdue);
    }
    if (progress) {
      since = Clock::now();
      looked_ = since;
      continue;
    }
    if (!heads_.empty() || polling_.spins(Clock::now() - since)) {
      wait(since);
      continue;
    }
    std::unique_lock lock(mutex_);
    sleeping_ = true;
    changed_.wait(lock, [this] { return stop_ || !active_.empty(); });
    sleeping_ = false;
    if (stop_) return;
    since = Clock::now();
    looked_ = since;
  }
}

bool Completions::attend() {
  attended_until_.store((Clock::now() + kAttended).time_since_epoch().count(), std::memory_order_relaxed);
  const std::unique_lock turn(turn_, std::try_to_lock);
  return turn && tell(heads_attended_, nullptr);
}

bool Completions::tell(std::vector<Task::Place>& heads, std::string* overdue) {
  collect(heads, overdue);
  for (const TaskRef& task : begun_) task->tell(CL_RUNNING);
  for (TaskRef& task : ended_) {
    task->conclude(task->failure_ != CL_SUCCESS ? task->failure_ : CL_COMPLETE);
    task.reset();
  }
  const bool progress = !ended_.empty();
  ended_.clear();
  begun_.clear();
  return progress;
}

void Completions::collect(std::vector<Task::Place>& heads, std::string* overdue) {
  const std::lock_guard lock(mutex_);
  heads.clear();
  for (Stream* stream : active_) {
    auto& pending = stream->pending_;
    while (!pending.empty() && stream->reached(pending.front()->sequence_)) {
      ended_.push_back(std::move(pending.front()));
      pending.pop_front();
    }
    if (pending.empty()) {
      stream->active_ = false;
      continue;
    }
    const TaskRef& head = pending.front();
    heads.push_back({stream, head->sequence_});
    const auto reached = [](const Task::Place& place) { return place.stream->reached(place.sequence); };
    const bool free = std::all_of(head->blockers_.begin(), head->blockers_.end(), reached);
    if (head->watched_ && free) begun_.push_back(head);
    if (overdue != nullptr && limit_.time.count() != 0 && is_overdue(*stream, *head, free))
      *overdue = head->kernel;
  }
  std::erase_if(active_, [](const Stream* stream) { return !stream->active_; });
  awaits_.store(!active_.empty(), std::memory_order_relaxed);
}

bool Completions::is_overdue(Stream& stream, const Task& task, bool free) const {
  if (!free || task.kernel.empty()) {
    stream.running_.reset();
    return false;
  }
  const auto now = Clock::now();
  if (stream.running_ != task.sequence_) {
    stream.running_ = task.sequence_;
    stream.running_since_ = now;
  }
  return now - stream.running_since_ > limit_.time;
}

void Completions::wait(Clock::time_point since) {
  const auto news = [this] {
    return generation_.load(std::memory_order_relaxed) != heads_of_ ||
           std::any_of(heads_.begin(), heads_.end(),
                       [](const Task::Place& head) { return head.stream->reached(head.sequence); });
  };
  for (auto now = Clock::now();
       now.time_since_epoch().count() < attended_until_.load(std::memory_order_relaxed) || !news();
       now = Clock::now()) {
    const auto idle = now - since;
    if (polling_.spins(idle)) {
      Polling::spin();
      continue;
    }
    if (heads_.empty()) return;
    if (now - looked_ > kFaultInterval) {
      looked_ = now;
      look_for_fault();
      // run() has to look which kernels are overdue.
      if (limit_.time.count() != 0) return;
    }
    Polling::sleep(idle);
  }
}

void Completions::look_for_fault() {
  if (faulty_) return;
  for (const Task::Place& head : heads_) {
    const CUresult result = driver().StreamQuery(head.stream->native());
    if (result == CUDA_SUCCESS || result == CUDA_ERROR_NOT_READY) continue;
    faulty_ = true;
    fault_(result);
    return;
  }
}

}  // namespace clique::daemon::cuda
