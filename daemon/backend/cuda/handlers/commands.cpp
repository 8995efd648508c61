#include "daemon/backend/cuda/handlers/commands.hpp"

#include <algorithm>
#include <utility>

namespace clique::daemon::cuda {

namespace {

using protocol::Command;

/// From this many tasks on, those of an out-of-order queue that have ended are removed.
constexpr std::size_t kManyPending = 64;

/// The times of an EventState.
CommandReports::Times times_of(std::int64_t queued, std::int64_t submitted,
                               std::pair<std::int64_t, std::int64_t> on_gpu) {
  // The two clocks drift, so the GPU's may be ahead by less than a microsecond, but a completed command has
  // not ended in the future. Differences of the GPU's times are exact, so both are shifted.
  const std::int64_t ahead = std::max<std::int64_t>(0, on_gpu.second - host_clock());
  const auto [start, end] = std::pair(on_gpu.first - ahead, on_gpu.second - ahead);
  submitted = std::min(submitted, start);
  queued = std::min(queued, submitted);
  return {static_cast<std::uint64_t>(queued), static_cast<std::uint64_t>(submitted),
          static_cast<std::uint64_t>(start), static_cast<std::uint64_t>(std::max(start, end))};
}

}  // namespace

void Commands::enter(const Command& command, const std::shared_ptr<Queue>& queue, Work work) {
  Parts* const parts = parts_.of(command);
  std::vector<TaskRef> waits;
  std::vector<Entry> after;
  const Parts none;
  (parts != nullptr ? *parts : none)
      .resolve_waits(
          command, queue->in_order, after,
          [&](const std::vector<protocol::CommandId>& events) { resolve(events, waits, after); },
          [&waits](const TaskRef& part) { waits.push_back(part); });

  const Ordering ordering = work.ordering;
  // The report of a command in parts is made by join().
  const bool reported = parts == nullptr && is_reported(command);
  // A barrier's report is announced even if the client does not want it: all later reports follow it.
  const bool barrier = ordering.everything_after && !queue->in_order;
  const bool announced = reported || work.data || barrier;
  Entry entry;
  Entry stand_in;
  if (announced || !after.empty()) {
    reports_.append_before(after, *queue, ordering.everything_before);
    if (announced)
      entry = reports_.expect(*queue, after, barrier);
    else
      stand_in = reports_.follow(*queue, after);
  }
  const TaskRef task = make_task(command, queue, std::move(work), entry, reported);
  if (parts == nullptr) {
    if (has_event(command))
      events_.add(command.id, {task, CL_SUCCESS,
                               entry             ? entry
                               : queue->in_order ? queue->last_report
                                                 : stand_in});
    enqueue(task, queue, waits, ordering);
    return;
  }
  // The command's times reach from the first part's start to the last part's end.
  task->timed = is_timed(command, *queue);
  parts->natives.push_back(task);
  parts->reports.push_back(entry);
  enqueue(task, queue, waits, ordering);
  if ((command.flags & Command::kMore) == 0) join(command, queue, parts_.take(command.id));
}

void Commands::join(const Command& command, const std::shared_ptr<Queue>& queue, const Parts& parts) {
  const bool reported = is_reported(command);
  Entry entry;
  if (reported) {
    auto after = parts.reports;
    reports_.append_before(after, *queue, false);
    entry = reports_.expect(*queue, after);
  }
  auto task = std::make_shared<Task>();
  task->stands_for_waits = true;
  task->queued = host_clock();
  task->at_end = [this, id = command.id, queue, entry, reported, timed = is_timed(command, *queue),
                  tasks = parts.natives](Task& /*task*/, cl_int status) {
    if (!reported) return;
    protocol::EventState state{id, status, {}};
    if (timed && status == CL_COMPLETE) {
      std::pair<std::int64_t, std::int64_t> times = tasks.front()->times();
      for (const TaskRef& part : tasks) {
        times.first = std::min(times.first, part->times().first);
        times.second = std::max(times.second, part->times().second);
      }
      state.times = times_of(tasks.front()->queued, tasks.front()->submitted(), times);
    }
    reports_.complete(entry, {state, true});
  };
  if (has_event(command)) events_.add(command.id, {task, CL_SUCCESS, entry ? entry : parts.reports.back()});
  enqueue(task, queue, parts.natives);
}

void Commands::refuse(const Command& command, Queue* queue, const ClError& error) {
  if (!parts_.fail(command, error.status())) return;
  if (has_event(command)) events_.add(command.id, {nullptr, error.status(), nullptr});
  reports_.refuse(command, queue, error);
}

void Commands::resolve(const std::vector<protocol::CommandId>& waits, std::vector<TaskRef>& tasks,
                       std::vector<Entry>& after) {
  events_.resolve(waits, after, [&tasks](const Event& awaited) {
    if (awaited.task) tasks.push_back(awaited.task);
    return !awaited.task || awaited.task->status() < 0;
  });
}

TaskRef Commands::make_task(const Command& command, const std::shared_ptr<Queue>& queue, Work work,
                            Entry entry, bool reported) {
  auto task = std::make_shared<Task>();
  task->run = std::move(work.run);
  task->run_and_mark = std::move(work.run_and_mark);
  task->mark_only_after_kernel = work.mark_only_after_kernel;
  task->keep = std::move(work.keep);
  task->kernel = work.kernel;
  // A trace needs to know when all tasks end, because it takes the end of one for the earliest begin of the
  // next.
  task->timed = is_timed(command, *queue) && (work.data || reported || (queue->traced && task->run));
  task->observed = queue->traced;
  task->prompt = work.data != nullptr;
  task->awaited = is_awaited(command);
  if (queue->profiling) task->queued = host_clock();
  if (work.verdict)
    task->verdict = [this, queue = queue->id, verdict = std::move(work.verdict)]() -> cl_int {
      const std::optional<ClError> error = verdict();
      if (!error) return CL_COMPLETE;
      reports_.explain(queue, *error);
      return error->status();
    };
  queued_.fetch_add(1, std::memory_order_relaxed);
  task->at_end = [this, id = command.id, silent = !is_reported(command), queue, reported,
                  unhurried = is_unhurried(command), entry = std::move(entry), data = std::move(work.data),
                  size = work.size, part = work.part,
                  before_report = std::move(work.before_report)](Task& ended, cl_int status) {
    queued_.fetch_sub(1, std::memory_order_relaxed);
    if (before_report && status == CL_COMPLETE) before_report();
    if (status < 0 && silent)
      reports_.fail_without_event(queue->id, queue.get(), id, status,
                                  "a command without an event has failed");
    if (!entry) return;
    CommandReports::Completion completion{{id, status, {}}, reported, data ? *data : nullptr, size, part,
                                          unhurried};
    if (reported && ended.timed && status == CL_COMPLETE)
      completion.state.times = times_of(ended.queued, ended.submitted(), ended.times());
    reports_.complete(entry, std::move(completion));
  };
  return task;
}

void Commands::enqueue(const TaskRef& task, const std::shared_ptr<Queue>& queue,
                       const std::vector<TaskRef>& waits, Ordering ordering) {
  const TaskRef last = queue->last && !queue->last->ended() ? queue->last : nullptr;
  if (queue->in_order) {
    queue->last = task;
    scheduler_.enter(task, queue->lane, waits, {&last, last ? 1U : 0U});
    return;
  }
  std::vector<TaskRef> order;
  if (last) order.push_back(last);
  auto& pending = queue->pending;
  if (ordering.everything_before || pending.size() > kManyPending)
    std::erase_if(pending, [](const TaskRef& one) { return one->ended(); });
  if (ordering.everything_before) order.insert(order.end(), pending.begin(), pending.end());
  if (ordering.everything_before && ordering.everything_after) pending.clear();
  if (ordering.everything_after) queue->last = task;
  pending.push_back(task);
  scheduler_.enter(task, queue->lane, waits, order);
}

TaskRef Commands::transfer(Queue& queue, const std::vector<TaskRef>& waits, std::function<void(CUstream)> run,
                           std::vector<std::shared_ptr<const void>> keep,
                           std::function<void(cl_int)> at_end) {
  auto task = std::make_shared<Task>();
  task->run = std::move(run);
  task->keep = std::move(keep);
  task->prompt = true;
  task->at_end = [at_end = std::move(at_end)](Task& /*task*/, cl_int status) { at_end(status); };
  if (!queue.in_order) queue.pending.push_back(task);
  scheduler_.enter(task, queue.lane, waits, {});
  return task;
}

TaskRef Commands::hold(const Command& command, std::vector<TaskRef>& waits) {
  std::vector<Entry> after;
  resolve(command.waits, waits, after);
  const auto entry = is_reported(command) ? reports_.expect(after) : nullptr;
  auto task = std::make_shared<Task>();
  task->stands_for_waits = true;
  task->prompt = true;
  queued_.fetch_add(1, std::memory_order_relaxed);
  task->at_end = [this, entry, id = command.id](Task& /*task*/, cl_int status) {
    queued_.fetch_sub(1, std::memory_order_relaxed);
    if (entry) reports_.complete(entry, {{id, status, {}}, true});
  };
  scheduler_.hold(task);
  if (has_event(command)) events_.add(command.id, {task, CL_SUCCESS, entry});
  return task;
}

void Commands::end(TaskRef& whole, cl_int status) {
  if (whole) scheduler_.end(std::exchange(whole, nullptr), status);
}

void Commands::record(const Command& command, Work work) {
  // A graph can neither send data nor do anything on the host when it ends, such as printing.
  recording_->refused = recording_->refused || work.data || work.before_report || work.verdict;
  recording_->work.steps.push_back({std::move(work), command.waits});
}

std::optional<RecordedWork> Commands::end_recording() {
  Recording recording = std::move(*std::exchange(recording_, std::nullopt));
  if (recording.refused) return std::nullopt;
  return std::move(recording.work);
}

}  // namespace clique::daemon::cuda
