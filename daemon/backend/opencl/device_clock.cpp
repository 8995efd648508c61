#include "daemon/backend/opencl/device_clock.hpp"

#include <cstdint>
#include <cstdlib>

namespace clique::daemon::opencl {

namespace {

/// Times that are closer than this are on the same clock.
constexpr std::int64_t kSame = 10'000'000;

std::int64_t read(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

/// When the device says that a command was queued; 0 where it does not.
std::int64_t device_time(cl_device_id device) {
  cl_int status = CL_SUCCESS;
  const Handle<cl_context> context(clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status));
  if (status != CL_SUCCESS) return 0;
  const Handle<cl_command_queue> queue(
      clCreateCommandQueue(context.get(), device, CL_QUEUE_PROFILING_ENABLE, &status));
  Handle<cl_event> event;
  if (status != CL_SUCCESS ||
      clEnqueueMarkerWithWaitList(queue.get(), 0, nullptr, event.put()) != CL_SUCCESS ||
      clFinish(queue.get()) != CL_SUCCESS)
    return 0;
  return static_cast<std::int64_t>(
      get_value<cl_ulong>([&](std::size_t size, void* value, std::size_t* size_ret) {
        return clGetEventProfilingInfo(event.get(), CL_PROFILING_COMMAND_QUEUED, size, value, size_ret);
      }));
}

}  // namespace

DeviceClock::DeviceClock(cl_device_id device) {
  const std::int64_t time = device_time(device);
  std::int64_t nearest = kSame;
  for (const clockid_t clock : {CLOCK_MONOTONIC_RAW, CLOCK_MONOTONIC, CLOCK_REALTIME, CLOCK_BOOTTIME}) {
    const std::int64_t distance = std::llabs(read(clock) - time);
    if (distance >= nearest) continue;
    nearest = distance;
    clock_ = clock;
  }
}

std::int64_t DeviceClock::now() const {
  return read(clock_);
}

std::int64_t DeviceClock::offset_of(cl_device_id device) const {
  const std::int64_t time = device_time(device);
  if (time == 0) return 0;
  const std::int64_t offset = now() - time;
  return std::llabs(offset) <= kSame ? 0 : offset;
}

}  // namespace clique::daemon::opencl
