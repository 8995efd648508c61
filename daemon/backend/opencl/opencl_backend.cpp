#include "daemon/backend/opencl/opencl_backend.hpp"

#include <algorithm>

#include "daemon/backend/opencl/describe.hpp"
#include "daemon/backend/opencl/host_memory.hpp"
#include "daemon/backend/opencl/make_backend.hpp"
#include "daemon/common/log.hpp"
#include "daemon/worker/limits/watchdog.hpp"

namespace clique::daemon::opencl {

OpenClBackend::OpenClBackend(const Surroundings& surroundings, cl_platform_id platform,
                             std::vector<cl_device_id> devices, const std::string& node)
    : surroundings_(surroundings),
      platform_(platform),
      clock_(devices.at(0)),
      kernel_limit_(surroundings.kernel_limit, [this](const std::string& kernel) { overdue(kernel); }) {
  description_.platform = describe_platform(platform);
  const auto uuids = device_uuids(platform, node);
  for (DeviceId id = 0; id < devices.size(); ++id) {
    const auto uuid = uuids.find(devices[id]);
    const auto added = devices_.emplace(id, Device{devices[id],
                                                   {},
                                                   clock_.offset_of(devices[id]),
                                                   uuid != uuids.end() ? uuid->second : Uuid{},
                                                   static_cast<std::uint32_t>(id),
                                                   uses_host_memory(devices[id])});
    description_.devices.push_back(describe(added.first->second));
  }
}

protocol::DeviceDescription OpenClBackend::describe(const Device& device) const {
  protocol::DeviceDescription description = describe_device(device.native, device.in_place);
  set_uuid(description, device.uuid);
  surroundings_.memory.restrict(description);
  return description;
}

void OpenClBackend::keep_devices(const std::vector<std::uint32_t>& positions) {
  decltype(devices_) kept;
  std::vector<protocol::DeviceDescription> descriptions;
  for (const std::uint32_t position : positions) {
    kept.emplace(descriptions.size(), std::move(devices_.at(position)));
    descriptions.push_back(std::move(description_.devices.at(position)));
  }
  devices_ = std::move(kept);
  description_.devices = std::move(descriptions);
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
  prepared.parts = parts_.of(command);
  prepared.queue = queues_.get(command.queue);
  const Parts none;
  (prepared.parts != nullptr ? *prepared.parts : none)
      .resolve_waits(
          command, prepared.queue->in_order, prepared.after,
          [&](const std::vector<CommandId>& events) { resolve(events, prepared.waits, prepared.after); },
          [&](const Handle<cl_event>& part) { prepared.waits.push_back(part.get()); });
  // Drivers count a failed command as ended and forget the commands before it, but some of those may still be
  // under way.
  const cl_event tail = standing_tail(*prepared.queue).get();
  if (tail != prepared.queue->tail.get()) prepared.waits.push_back(tail);
  prepared.waits_elsewhere = surroundings_.pacer.paced() && waits_elsewhere(command, *prepared.queue);
}

bool OpenClBackend::waits_elsewhere(const Command& command, const Queue& queue) {
  const auto pending = [](const Handle<cl_event>& event) {
    return event && status_of(event.get()) > CL_COMPLETE;
  };
  if (queue.in_order && queue.waits_elsewhere && pending(queue.tail)) return true;
  // Otherwise the list has the numbers of parts.
  if ((command.flags & Command::kAfterParts) != 0) return false;
  return std::any_of(command.waits.begin(), command.waits.end(), [&](CommandId id) {
    const Event* const awaited = events_.find(id);
    return awaited != nullptr && (awaited->user || awaited->waits_elsewhere) && pending(awaited->native);
  });
}

void OpenClBackend::settle(const Command& command, Aftermath aftermath, Prepared& prepared) {
  Queue& queue = *prepared.queue;
  entered(prepared.queue, prepared.event, !prepared.waits.empty());
  queued_.add(queue.id, queue.in_order, prepared.event);
  queue.waits_elsewhere = prepared.waits_elsewhere;
  Parts* const parts = prepared.parts;
  Handle<cl_event> event = std::move(prepared.event);
  auto after = std::move(prepared.after);
  const bool waits = !after.empty();
  reports_.append_before(after, queue, aftermath.everything_before);

  const auto tracked = [&](bool reported) {
    auto entry = track(command, event, std::move(aftermath), prepared.queue, after, reported, event);
    // Later reports follow what the command waits for, even if it is not reported itself.
    return entry || !waits ? entry : reports_.follow(queue, after);
  };
  if (parts == nullptr) {
    auto entry = tracked(is_reported(command));
    if (!has_event(command)) return;
    if (!entry && queue.in_order) entry = queue.last_report;
    events_.add(command.id,
                {std::move(event), CL_SUCCESS, std::move(entry), false, prepared.waits_elsewhere});
    return;
  }

  parts->natives.push_back(event);
  parts->reports.push_back(tracked(false));
  if ((command.flags & Command::kMore) != 0) return;
  const Parts all = parts_.take(command.id);
  if (!has_event(command)) return;
  if (!queue.in_order) {
    join(command, prepared.queue, all.natives, all.reports);
    return;
  }
  // In order, the last part ends last.
  const auto entry =
      track(command, event, {}, prepared.queue, all.reports, is_reported(command), all.natives.front());
  events_.add(command.id, {std::move(event), CL_SUCCESS, entry ? entry : all.reports.back(), false,
                           prepared.waits_elsewhere});
}

void OpenClBackend::refuse(const Command& command, Queue* queue, const ClError& error) {
  if (!parts_.fail(command, error.status())) return;
  failures_seen_ = true;
  if (has_event(command)) events_.add(command.id, {{}, error.status(), nullptr, false});
  reports_.refuse(command, queue, error);
}

CommandReports::Entry OpenClBackend::track(const Command& command, const Handle<cl_event>& event,
                                           Aftermath aftermath, const std::shared_ptr<Queue>& queue,
                                           const std::vector<CommandReports::Entry>& after, bool reported,
                                           Handle<cl_event> first) {
  CommandReports::Entry entry;
  const bool barrier = aftermath.everything_after && !queue->in_order;
  if (barrier) queue->barrier = event;
  if (reported || aftermath.data || barrier) {
    entry = reports_.expect(*queue, after, barrier);
  } else if (!aftermath.keep) {
    return nullptr;
  }
  watcher_.watch(event,
                 [this, id = command.id, silent = !is_reported(command), event = event.get(),
                  first = std::move(first), aftermath = std::move(aftermath), queue, entry, reported,
                  timed = is_timed(command, *queue), unhurried = is_unhurried(command)](cl_int status) {
                   if (status < 0) failures_seen_ = true;
                   if (status < 0 && silent)
                     reports_.fail_without_event(queue->id, queue.get(), id, status,
                                                 "a command without an event has failed");
                   if (!entry) return;
                   CommandReports::Completion completion{{id, status, {}}, reported,       aftermath.data,
                                                         aftermath.size,   aftermath.part, unhurried};
                   if (reported && timed && status == CL_COMPLETE)
                     completion.state.times = times_of(*queue, first.get(), event);
                   reports_.complete(entry, std::move(completion));
                 });
  return entry;
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

void OpenClBackend::entered(const std::shared_ptr<Queue>& queue, const Handle<cl_event>& event, bool waits) {
  if (queue->in_order) {
    auto& earlier = queue->earlier_tails;
    while (!earlier.empty() && status_of(earlier.front().get()) <= CL_COMPLETE) earlier.pop_front();
    if (waits && queue->tail) earlier.push_back(std::move(queue->tail));
    queue->tail = event;
  }
  if (queue->touched) return;
  queue->touched = true;
  touched_.push_back(queue);
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
                                             const std::vector<std::uint32_t>& devices,
                                             const std::string& node) {
  cl_uint count = 0;
  clGetPlatformIDs(0, nullptr, &count);
  std::vector<cl_platform_id> platforms(count);
  if (platform >= count || clGetPlatformIDs(count, platforms.data(), nullptr) != CL_SUCCESS)
    throw std::runtime_error("OpenCL driver " + std::to_string(platform) +
                             " is not there any more; there are " + std::to_string(count));
  clGetDeviceIDs(platforms[platform], CL_DEVICE_TYPE_ALL, 0, nullptr, &(count = 0));
  std::vector<cl_device_id> all(count);
  if (count == 0 ||
      clGetDeviceIDs(platforms[platform], CL_DEVICE_TYPE_ALL, count, all.data(), nullptr) != CL_SUCCESS)
    throw std::runtime_error("OpenCL driver " + std::to_string(platform) + " has no devices");
  std::vector<cl_device_id> chosen;
  for (const std::uint32_t index : devices)
    if (index < all.size()) chosen.push_back(all[index]);
  if (!devices.empty() && chosen.size() != devices.size())
    throw std::runtime_error("OpenCL driver " + std::to_string(platform) + " has " +
                             std::to_string(all.size()) + " devices, fewer than it had when cliqued started");
  return std::make_unique<opencl::OpenClBackend>(surroundings, platforms[platform],
                                                 devices.empty() ? all : chosen, node);
}

}  // namespace clique::daemon
