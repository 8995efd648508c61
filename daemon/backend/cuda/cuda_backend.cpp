#include "daemon/backend/cuda/cuda_backend.hpp"

#include <algorithm>
#include <cstring>

#include "daemon/backend/cuda/describe.hpp"
#include "daemon/backend/cuda/make_backend.hpp"
#include "daemon/common/log.hpp"
#include "daemon/worker/watchdog.hpp"

namespace clique::daemon::cuda {

namespace {

/// Reports and tasks of an out-of-order queue that are remembered before those that are over are sorted out.
constexpr std::size_t kManyPending = 64;
/// Pinned memory that data on its way may take at a time.
constexpr std::size_t kMostStaging = 512U << 20U;

std::byte* make_pinned(std::size_t size) {
  void* block = nullptr;
  CLIQUE_CUDA(MemHostAlloc(&block, size, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
  return static_cast<std::byte*>(block);
}

void destroy_pinned(std::byte* block) {
  static_cast<void>(driver().MemFreeHost(block));
}

}  // namespace

CudaBackend::CudaBackend(const Surroundings& surroundings, const Device& device)
    : surroundings_(surroundings),
      device_(device),
      description_(describe(device)),
      extensions_(language_extensions(device)),
      staging_({make_pinned, destroy_pinned, kMostStaging, [this] { surroundings_.reporter.hear(); }}),
      device_memory_(device),
      window_(surroundings_.peers, device.native),
      printf_buffers_(device_memory_),
      scheduler_(device.context, [this](CUresult result) { fault(result); },
                 {surroundings.kernel_limit, [this](const std::string& kernel) { overdue(kernel); }}),
      compiler_(compiler::find_compiler()),
      builds_([context = device.context] { driver().CtxSetCurrent(context); }) {
  for (protocol::DeviceDescription& one : description_.devices) surroundings_.memory.restrict(one);
  surroundings_.reporter.expect_prints(false);  // until a kernel that does is launched
  // What takes the driver long for the first time is not to keep a client waiting.
  staging_.take(1);
  device_memory_.warm();
  builds_.post(std::make_shared<Buildable>(), [this] {
    // Blocks for data on its way are known by the host's addresses.
    if (device_.attribute(CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM) != 0)
      small_reads_.load();
    compiler_.warm();
  });
}

void CudaBackend::share(std::span<std::byte> memory) {
  const CUresult result = driver().MemHostRegister(
      memory.data(), memory.size(), CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP);
  if (result == CUDA_SUCCESS)
    pinned_.emplace_back(memory);
  else
    spdlog::warn(
        "shared memory cannot be pinned ({}), so data is copied once more; is the limit on locked memory "
        "(ulimit -l) below {} MiB?",
        name_of(result), memory.size() >> 20U);
}

void CudaBackend::unshare(std::span<std::byte> memory) {
  const auto pinned =
      std::erase_if(pinned_, [&](std::span<const std::byte> one) { return one.data() == memory.data(); });
  if (pinned > 0) driver().MemHostUnregister(memory.data());
}

bool CudaBackend::is_pinned(std::span<const std::byte> bytes) const {
  return std::any_of(pinned_.begin(), pinned_.end(), [&](std::span<const std::byte> memory) {
    return protocol::SharedMemory::inside(memory, bytes);
  });
}

std::shared_ptr<std::byte> CudaBackend::outgoing(std::size_t size) {
  auto shared = surroundings_.reporter.take(size);
  return shared && is_pinned({shared.get(), size}) ? shared : staging_.take(size);
}

std::shared_ptr<std::byte> CudaBackend::chunk(const std::shared_ptr<std::byte>& shared, std::size_t size) {
  return shared && is_pinned({shared.get(), size}) ? shared : staging_.take_uncounted(size);
}

std::shared_ptr<std::byte> CudaBackend::pinned(const protocol::Payload& data) {
  // The driver does for a large block what would be done here.
  if (is_pinned(data.bytes) || data.bytes.size() > protocol::kMaxPayload)
    return {std::const_pointer_cast<void>(data.owner), const_cast<std::byte*>(data.bytes.data())};
  auto block = staging_.take(data.bytes.size());
  std::memcpy(block.get(), data.bytes.data(), data.bytes.size());
  return block;
}

void CudaBackend::enter(const Command& command, const std::shared_ptr<Queue>& queue, Work work) {
  const bool more = (command.flags & Command::kMore) != 0;
  Parts* parts = nullptr;
  if (more || !parts_.empty()) {
    auto known = parts_.find(command.id);
    if (known == parts_.end() && more) {
      known = parts_.emplace(command.id, Parts{}).first;
      known->second.waits = command.waits;
    }
    if (known != parts_.end()) parts = &known->second;
  }
  const bool first = parts == nullptr || parts->tasks.empty();
  if (parts != nullptr && parts->status != CL_SUCCESS)
    throw ClError(parts->status, "an earlier part of the command failed");
  std::vector<TaskRef> waits;
  std::vector<ReportOrder::EntryRef> after;
  if ((command.flags & Command::kAfterParts) == 0) {
    resolve(command.waits, waits, after);
    // Where the queue keeps no order, each part waits for what the command waits for.
    if (!first && !queue->in_order) resolve(parts->waits, waits, after);
  } else {
    for (const CommandId number : command.waits) {
      check_earlier_part(number, first ? 0 : parts->tasks.size());
      if (queue->in_order) continue;
      waits.push_back(parts->tasks[number]);
      if (const auto& report = parts->reports[number]) after.push_back(report);
    }
  }

  const bool all_before = work.everything_before;
  const bool all_after = work.everything_after;
  const bool report = parts == nullptr && (command.flags & Command::kReport) != 0;
  // What comes after it is told after all before it, told or not.
  const bool barrier = all_after && !queue->in_order;
  const bool said = report || work.data || barrier;
  ReportOrder::EntryRef entry;
  ReportOrder::EntryRef unsaid;
  if (said || !after.empty()) {
    const auto earlier = before(*queue, all_before);
    after.insert(after.end(), earlier.begin(), earlier.end());
    if (said) {
      entry = surroundings_.order.expect(after);
      chain(*queue, entry, barrier);
    } else if ((unsaid = surroundings_.order.follow(after))) {
      // What it waits for comes before what follows it, though nothing is said of itself.
      chain(*queue, unsaid, false);
    }
  }
  const TaskRef task = make_task(command, queue, std::move(work), entry, report);
  if (parts == nullptr) {
    if ((command.flags & (Command::kEvent | Command::kReport)) != 0)
      add_event(command.id, {task, CL_SUCCESS,
                             entry             ? entry
                             : queue->in_order ? queue->last_report
                                               : unsaid});
    enqueue(task, queue, waits, all_before, all_after);
    return;
  }
  // The command's times are from the first to the last of its parts'.
  task->timed = queue->profiling;
  parts->tasks.push_back(task);
  parts->reports.push_back(entry);
  enqueue(task, queue, waits, all_before, all_after);
  if (more) return;
  Parts all = std::move(*parts);
  parts_.erase(command.id);
  join_parts(command, queue, std::move(all));
}

void CudaBackend::join_parts(const Command& command, const std::shared_ptr<Queue>& queue, Parts parts) {
  const bool report = (command.flags & Command::kReport) != 0;
  ReportOrder::EntryRef entry;
  auto after = parts.reports;
  if (report) {
    const auto earlier = before(*queue, false);
    after.insert(after.end(), earlier.begin(), earlier.end());
    entry = surroundings_.order.expect(after);
    chain(*queue, entry, false);
  }
  auto task = std::make_shared<Task>();
  task->stands_for_waits = true;
  task->queued = host_clock();
  task->at_end = [this, command, queue, entry, report, tasks = parts.tasks](Task& /*task*/, cl_int status) {
    if (!report) return;
    protocol::EventState state{command.id, status, {}};
    if (queue->profiling && status == CL_COMPLETE) {
      std::pair<std::int64_t, std::int64_t> times = tasks.front()->times();
      for (const TaskRef& part : tasks) {
        times.first = std::min(times.first, part->times().first);
        times.second = std::max(times.second, part->times().second);
      }
      state.times = clamped(tasks.front()->queued, tasks.front()->submitted(), times);
    }
    surroundings_.order.due(entry, [this, state] { surroundings_.reporter.add(state); });
  };
  if ((command.flags & (Command::kEvent | Command::kReport)) != 0)
    add_event(command.id, {task, CL_SUCCESS, entry ? entry : parts.reports.back()});
  enqueue(task, queue, parts.tasks, false, false);
}

void CudaBackend::fail(const Command& command, const std::shared_ptr<Queue>& queue, const ClError& error) {
  if ((command.flags & Command::kMore) != 0) {
    Parts& parts = parts_[command.id];
    if (parts.status == CL_SUCCESS) parts.status = error.status();
    return;
  }
  parts_.erase(command.id);
  if ((command.flags & (Command::kEvent | Command::kReport)) != 0) {
    add_event(command.id, {nullptr, error.status(), nullptr});
    if ((command.flags & Command::kReport) != 0)
      surroundings_.reporter.report(protocol::EventState{command.id, error.status(), {}});
    return;
  }
  cl_int none = CL_SUCCESS;
  if (queue) queue->deferred.compare_exchange_strong(none, error.status());
  surroundings_.reporter.report(protocol::Failed{command.queue, error.status(), error.what()});
}

TaskRef CudaBackend::make_task(const Command& command, const std::shared_ptr<Queue>& queue, Work work,
                               ReportOrder::EntryRef entry, bool report) {
  auto task = std::make_shared<Task>();
  task->run = std::move(work.run);
  task->run_and_mark = std::move(work.run_and_mark);
  task->keep = std::move(work.keep);
  task->kernel = work.kernel;
  task->timed = queue->profiling && (report || work.data);
  task->prompt = work.data != nullptr;
  task->awaited = (command.flags & (Command::kEvent | Command::kReport)) != 0;
  if (queue->profiling) task->queued = host_clock();
  task->at_end = [this, id = command.id, silent = command.flags == 0, queue, report, entry = std::move(entry),
                  data = std::move(work.data), size = work.size, part = work.part,
                  before_report = std::move(work.before_report)](Task& ended, cl_int status) {
    if (before_report && status == CL_COMPLETE) before_report();
    if (status < 0 && silent) {
      cl_int none = CL_SUCCESS;
      queue->deferred.compare_exchange_strong(none, status);
      surroundings_.reporter.report(protocol::Failed{queue->id, status, "a command without an event failed"});
    }
    if (!entry) return;
    protocol::EventState state{id, status, {}};
    if (report && ended.timed && status == CL_COMPLETE)
      state.times = clamped(ended.queued, ended.submitted(), ended.times());
    surroundings_.order.due(entry, [this, state, report, data, size, part] {
      if (data && *data && state.status == CL_COMPLETE)
        surroundings_.reporter.add(protocol::Data{state.command, part, {{data->get(), size}, *data}});
      if (report) surroundings_.reporter.add(state);
    });
  };
  return task;
}

CudaBackend::Times CudaBackend::clamped(std::int64_t queued, std::int64_t submitted,
                                        std::pair<std::int64_t, std::int64_t> times) {
  // Two clocks agree within microseconds only; the GPU's differences are the exact ones.
  // What has been seen ended is not in the future, however coarsely the two were related.
  const std::int64_t ahead = std::max<std::int64_t>(0, times.second - host_clock());
  const auto [start, end] = std::pair(times.first - ahead, times.second - ahead);
  submitted = std::min(submitted, start);
  queued = std::min(queued, submitted);
  return {static_cast<std::uint64_t>(queued), static_cast<std::uint64_t>(submitted),
          static_cast<std::uint64_t>(start), static_cast<std::uint64_t>(std::max(start, end))};
}

void CudaBackend::enqueue(const TaskRef& task, const std::shared_ptr<Queue>& queue,
                          const std::vector<TaskRef>& waits, bool everything_before, bool everything_after) {
  std::vector<TaskRef> order;
  if (queue->last && !queue->last->ended()) order.push_back(queue->last);
  if (queue->in_order) {
    queue->last = task;
  } else {
    if (everything_before || queue->pending.size() > kManyPending)
      std::erase_if(queue->pending, [](const TaskRef& pending) { return pending->ended(); });
    if (everything_before) order.insert(order.end(), queue->pending.begin(), queue->pending.end());
    if (everything_before && everything_after) queue->pending.clear();
    if (everything_after) queue->last = task;
    queue->pending.push_back(task);
  }
  scheduler_.enter(task, queue->lane, waits, order);
}

void CudaBackend::chain(Queue& queue, const ReportOrder::EntryRef& entry, bool barrier) {
  if (queue.in_order || barrier) queue.last_report = entry;
  if (!queue.in_order) queue.pending_reports.push_back(entry);
}

std::vector<ReportOrder::EntryRef> CudaBackend::before(Queue& queue, bool everything) {
  auto& pending = queue.pending_reports;
  if (pending.size() > kManyPending)
    std::erase_if(pending, [this](const auto& entry) { return surroundings_.order.is_out(entry); });
  if (!queue.in_order && everything) return pending;
  if (!queue.last_report) return {};
  return {queue.last_report};
}

TaskRef CudaBackend::transfer(Queue& queue, const std::vector<TaskRef>& waits,
                              std::function<void(CUstream)> run,
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

void CudaBackend::check_device(DeviceId id) const {
  if (id != 0) throw RuleBroken("device " + std::to_string(id) + " does not exist");
}

void CudaBackend::fault(CUresult result) {
  if (faulty_.exchange(true)) return;
  surroundings_.tasks.post([this, result] {
    std::string suspects;
    for (const TaskRef& task : scheduler_.completions().abandon()) {
      const std::string name(task->kernel);
      if (!name.empty() && suspects.find("'" + name + "'") == std::string::npos && suspects.size() < 200)
        suspects += (suspects.empty() ? "'" : ", '") + name + "'";
    }
    end_session(std::string("the GPU failed with ") + name_of(result) +
                (suspects.empty() ? "" : "; under way: kernel " + suspects));
  });
}

void CudaBackend::overdue(const std::string& kernel) {
  if (faulty_.exchange(true)) return;
  surroundings_.tasks.post([this, why = over_limit(kernel, surroundings_.kernel_limit)] {
    scheduler_.completions().abandon();
    end_session(why);
  });
  end_soon();
}

void CudaBackend::end_session(const std::string& why) {
  for (const auto& [id, event] : events_)
    if (event.task && !event.task->ended())
      surroundings_.reporter.add(protocol::EventState{id, CL_OUT_OF_RESOURCES, {}});
  for (const auto& [request, task] : finishes_)
    if (!task->ended()) surroundings_.reporter.add(protocol::Finished{request, CL_OUT_OF_RESOURCES});
  surroundings_.reporter.flush();
  throw DeviceFailed(why);
}

}  // namespace clique::daemon::cuda

namespace clique::daemon {

std::unique_ptr<Backend> make_cuda_backend(const Surroundings& surroundings, std::uint32_t device) {
  return std::make_unique<cuda::CudaBackend>(surroundings, cuda::open_device(device));
}

}  // namespace clique::daemon
