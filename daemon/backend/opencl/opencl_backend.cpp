#include "daemon/backend/opencl/opencl_backend.hpp"

#include <algorithm>

#include "daemon/backend/opencl/describe.hpp"
#include "daemon/backend/opencl/make_backend.hpp"
#include "daemon/common/log.hpp"
#include "daemon/worker/watchdog.hpp"

namespace clique::daemon::opencl {

namespace {
/// Reports of an out-of-order queue that are remembered before those that are out are sorted out.
constexpr std::size_t kManyPending = 64;
}  // namespace

OpenClBackend::OpenClBackend(const Surroundings& surroundings, cl_platform_id platform,
                             std::vector<cl_device_id> devices)
    : surroundings_(surroundings),
      platform_(platform),
      clock_(devices.at(0)),
      kernel_limit_(surroundings.kernel_limit, [this](const std::string& kernel) { overdue(kernel); }) {
  description_.platform = describe_platform(platform);
  for (DeviceId id = 0; id < devices.size(); ++id) {
    devices_.emplace(id, Device{devices[id], {}, clock_.offset_of(devices[id])});
    description_.devices.push_back(describe_device(devices[id]));
    surroundings_.memory.restrict(description_.devices.back());
  }
}

void OpenClBackend::overdue(const std::string& kernel) {
  surroundings_.tasks.post([this, why = over_limit(kernel, surroundings_.kernel_limit)] {
    for (const auto& [id, event] : events_)
      if (event.native && !event.user && status_of(event.native.get()) > CL_COMPLETE)
        surroundings_.reporter.add(protocol::EventState{id, CL_OUT_OF_RESOURCES, {}});
    surroundings_.reporter.flush();
    throw DeviceFailed(why);
  });
  end_soon();
}

void OpenClBackend::prepare(const Command& command, Prepared& prepared) {
  const bool more = (command.flags & Command::kMore) != 0;
  bool first = true;
  if (more || !parts_.empty()) {
    auto known = parts_.find(command.id);
    first = known == parts_.end();
    if (first && more) {
      known = parts_.emplace(command.id, Parts{}).first;
      known->second.waits = command.waits;
    }
    if (known != parts_.end()) prepared.parts = &known->second;
  }
  prepared.queue = queues_.get(command.queue);
  if (prepared.parts != nullptr && prepared.parts->status != CL_SUCCESS)
    throw ClError(prepared.parts->status, "an earlier part of the command failed");
  if ((command.flags & Command::kAfterParts) == 0) {
    resolve(command.waits, prepared.waits, prepared.after);
    // Where the queue keeps no order, each part waits for what the command waits for.
    if (!first && !prepared.queue->in_order) resolve(prepared.parts->waits, prepared.waits, prepared.after);
  } else {
    for (const CommandId number : command.waits) {
      check_earlier_part(number, first ? 0 : prepared.parts->events.size());
      if (prepared.queue->in_order) continue;
      prepared.waits.push_back(prepared.parts->events[number].get());
      if (const auto& report = prepared.parts->reports[number]) prepared.after.push_back(report);
    }
  }
  // For drivers, a command that failed has ended, and those before it are forgotten, though they may have to
  // wait yet.
  const cl_event tail = standing_tail(*prepared.queue).get();
  if (tail != prepared.queue->tail.get()) prepared.waits.push_back(tail);
}

void OpenClBackend::settle(const Command& command, Aftermath aftermath, Prepared& prepared) {
  Queue& queue = *prepared.queue;
  entered(queue, prepared.event, !prepared.waits.empty());
  const bool more = (command.flags & Command::kMore) != 0;
  const bool report = !more && (command.flags & Command::kReport) != 0;
  Parts* parts = prepared.parts;
  Handle<cl_event> event = std::move(prepared.event);
  auto after = std::move(prepared.after);
  const bool waits = !after.empty();
  const auto earlier = before(queue, aftermath.everything_before);
  after.insert(after.end(), earlier.begin(), earlier.end());

  const auto tracked = [&](bool report_end) {
    auto entry = track(command, event, std::move(aftermath), prepared.queue, after, report_end, event);
    // What it waits for comes before what follows it, though nothing is said of itself.
    if (!entry && waits && (entry = surroundings_.order.follow(after))) chain(queue, entry, false);
    return entry;
  };
  if (parts == nullptr) {
    auto entry = tracked(report);
    if ((command.flags & (Command::kEvent | Command::kReport)) == 0) return;
    if (!entry && queue.in_order) entry = queue.last;
    add_event(command.id, {std::move(event), CL_SUCCESS, std::move(entry), false});
    return;
  }

  parts->events.push_back(event);
  parts->reports.push_back(tracked(false));
  if (more) return;
  const Parts all = std::move(*parts);
  parts_.erase(command.id);
  if ((command.flags & (Command::kEvent | Command::kReport)) == 0) return;
  if (!queue.in_order) {
    join(command, prepared.queue, all.events, all.reports);
    return;
  }
  // In order, the last part is the last to end.
  const auto entry = track(command, event, {}, prepared.queue, all.reports, report, all.events.front());
  add_event(command.id, {std::move(event), CL_SUCCESS, entry ? entry : all.reports.back(), false});
}

void OpenClBackend::fail(const Command& command, const std::shared_ptr<Queue>& queue, const ClError& error) {
  if ((command.flags & Command::kMore) != 0) {
    Parts& parts = parts_[command.id];
    if (parts.status == CL_SUCCESS) parts.status = error.status();
    return;
  }
  parts_.erase(command.id);
  failures_seen_ = true;
  if ((command.flags & (Command::kEvent | Command::kReport)) != 0) {
    add_event(command.id, {{}, error.status(), nullptr, false});
    if ((command.flags & Command::kReport) != 0)
      surroundings_.reporter.report(protocol::EventState{command.id, error.status(), {}});
    return;
  }
  cl_int none = CL_SUCCESS;
  if (queue) queue->deferred.compare_exchange_strong(none, error.status());
  surroundings_.reporter.report(protocol::Failed{command.queue, error.status(), error.what()});
}

ReportOrder::EntryRef OpenClBackend::track(const Command& command, const Handle<cl_event>& event,
                                           Aftermath aftermath, const std::shared_ptr<Queue>& queue,
                                           std::vector<ReportOrder::EntryRef> after, bool report_end,
                                           Handle<cl_event> first) {
  ReportOrder::EntryRef entry;
  const bool barrier = aftermath.everything_after && !queue->in_order;
  if (barrier) queue->barrier = event;
  if (report_end || aftermath.data || barrier) {
    entry = surroundings_.order.expect(after);
    chain(*queue, entry, barrier);
  } else if (!aftermath.keep) {
    return nullptr;
  }
  watcher_.watch(event, [this, id = command.id, silent = command.flags == 0, event = event.get(),
                         first = std::move(first), aftermath = std::move(aftermath), queue, entry,
                         report_end](cl_int status) {
    if (status < 0) failures_seen_ = true;
    if (status < 0 && silent) {
      cl_int none = CL_SUCCESS;
      queue->deferred.compare_exchange_strong(none, status);
      surroundings_.reporter.report(protocol::Failed{queue->id, status, "a command without an event failed"});
    }
    if (!entry) return;
    protocol::EventState state{id, status, {}};
    if (report_end && queue->profiling && status == CL_COMPLETE)
      state.times = times_of(*queue, first.get(), event);
    surroundings_.order.due(entry, [this, state, aftermath, report_end] {
      if (aftermath.data && state.status == CL_COMPLETE)
        surroundings_.reporter.add(protocol::Data{
            state.command, aftermath.part, {{aftermath.data.get(), aftermath.size}, aftermath.data}});
      if (report_end) surroundings_.reporter.add(state);
    });
  });
  return entry;
}

void OpenClBackend::chain(Queue& queue, const ReportOrder::EntryRef& entry, bool barrier) {
  if (queue.in_order || barrier) queue.last = entry;
  if (!queue.in_order) queue.pending.push_back(entry);
}

std::vector<ReportOrder::EntryRef> OpenClBackend::before(Queue& queue, bool everything) {
  if (queue.pending.size() > kManyPending)
    std::erase_if(queue.pending, [this](const auto& entry) { return surroundings_.order.is_out(entry); });
  if (!queue.in_order && everything) return queue.pending;
  if (!queue.last) return {};
  return {queue.last};
}

OpenClBackend::Times OpenClBackend::times_of(const Queue& queue, cl_event first, cl_event last) {
  const auto time = [&queue](cl_event event, cl_profiling_info name) -> std::uint64_t {
    const auto value = get_value<cl_ulong>([&](std::size_t size, void* to, std::size_t* size_ret) {
      return clGetEventProfilingInfo(event, name, size, to, size_ret);
    });
    return value == 0 ? 0 : value + static_cast<std::uint64_t>(queue.clock_offset);
  };
  return {time(first, CL_PROFILING_COMMAND_QUEUED), time(first, CL_PROFILING_COMMAND_SUBMIT),
          time(first, CL_PROFILING_COMMAND_START), time(last, CL_PROFILING_COMMAND_END)};
}

const Handle<cl_event>& OpenClBackend::standing_tail(const Queue& queue) const {
  const auto failed = [](const Handle<cl_event>& event) { return status_of(event.get()) < 0; };
  if (!failures_seen_ || !queue.tail || !failed(queue.tail)) return queue.tail;
  const auto found = std::find_if_not(queue.earlier_tails.rbegin(), queue.earlier_tails.rend(), failed);
  return found == queue.earlier_tails.rend() ? queue.tail : *found;
}

void OpenClBackend::entered(Queue& queue, const Handle<cl_event>& event, bool waits) {
  if (queue.in_order) {
    auto& earlier = queue.earlier_tails;
    while (!earlier.empty() && status_of(earlier.front().get()) <= CL_COMPLETE) earlier.pop_front();
    if (waits && queue.tail) earlier.push_back(std::move(queue.tail));
    queue.tail = event;
  }
  if (queue.touched) return;
  queue.touched = true;
  touched_.push_back(queues_.get(queue.id));
}

void OpenClBackend::flush() {
  for (const auto& queue : touched_) {
    queue->touched = false;
    clFlush(queue->native.get());
  }
  touched_.clear();
}

const OpenClBackend::Device& OpenClBackend::device(DeviceId id) const {
  const auto found = devices_.find(id);
  if (found == devices_.end()) throw RuleBroken("device " + std::to_string(id) + " does not exist");
  return found->second;
}

std::vector<cl_device_id> OpenClBackend::natives(const std::vector<DeviceId>& ids) const {
  std::vector<cl_device_id> result;
  result.reserve(ids.size());
  for (const DeviceId id : ids) result.push_back(device(id).native);
  return result;
}

DeviceId OpenClBackend::id_of(cl_device_id native) const {
  for (const auto& [id, device] : devices_)
    if (device.native == native) return id;
  return 0;
}

}  // namespace clique::daemon::opencl

namespace clique::daemon {

std::unique_ptr<Backend> make_opencl_backend(const Surroundings& surroundings, std::uint32_t platform,
                                             const std::vector<std::uint32_t>& devices) {
  cl_uint count = 0;
  clGetPlatformIDs(0, nullptr, &count);
  std::vector<cl_platform_id> platforms(count);
  if (platform >= count || clGetPlatformIDs(count, platforms.data(), nullptr) != CL_SUCCESS)
    throw std::runtime_error("the OpenCL driver is gone");
  clGetDeviceIDs(platforms[platform], CL_DEVICE_TYPE_ALL, 0, nullptr, &(count = 0));
  std::vector<cl_device_id> all(count);
  if (count == 0 ||
      clGetDeviceIDs(platforms[platform], CL_DEVICE_TYPE_ALL, count, all.data(), nullptr) != CL_SUCCESS)
    throw std::runtime_error("the OpenCL driver has no devices");
  std::vector<cl_device_id> chosen;
  for (const std::uint32_t index : devices)
    if (index < all.size()) chosen.push_back(all[index]);
  if (!devices.empty() && chosen.size() != devices.size())
    throw std::runtime_error("an OpenCL device is gone");
  return std::make_unique<opencl::OpenClBackend>(surroundings, platforms[platform],
                                                 devices.empty() ? all : chosen);
}

}  // namespace clique::daemon
