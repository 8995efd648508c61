#include "daemon/backend/opencl/device_clock.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

namespace clique::daemon::opencl {

namespace {

/// Times that differ by at most this, in ns, are taken to be on the same clock.
constexpr std::int64_t kSame = 10'000'000;
constexpr std::array kClocks{CLOCK_MONOTONIC_RAW, CLOCK_MONOTONIC, CLOCK_REALTIME, CLOCK_BOOTTIME};
/// Several samples, since clocks may be close to each other, and the process may be interrupted while it
/// reads them.
constexpr int kSamples = 5;

std::int64_t read(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

using Readings = std::array<std::int64_t, kClocks.size()>;

Readings read_all() {
  Readings readings{};
  std::transform(kClocks.begin(), kClocks.end(), readings.begin(), read);
  return readings;
}

/// When a command was queued by the device's clock, and the host's clocks before and after that.
struct Sample {
  std::int64_t time = 0;  ///< 0 if the device does not say
  Readings before{};
  Readings after{};
  /// How far the device's time is outside of the interval that it must be in, if the device uses this clock.
  std::int64_t distance(std::size_t clock) const {
    return std::max({std::int64_t{0}, before[clock] - time, time - after[clock]});
  }
};

Sample sample(cl_device_id device) {
  Sample result;
  cl_int status = CL_SUCCESS;
  const Handle<cl_context> context(clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status));
  if (status != CL_SUCCESS) return result;
  const Handle<cl_command_queue> queue(
      clCreateCommandQueue(context.get(), device, CL_QUEUE_PROFILING_ENABLE, &status));
  if (status != CL_SUCCESS) return result;
  Handle<cl_event> event;
  result.before = read_all();
  status = clEnqueueMarkerWithWaitList(queue.get(), 0, nullptr, event.put());
  result.after = read_all();
  if (status != CL_SUCCESS || clFinish(queue.get()) != CL_SUCCESS) return result;
  result.time = static_cast<std::int64_t>(
      get_value<cl_ulong>([&](std::size_t size, void* value, std::size_t* size_ret) {
        return clGetEventProfilingInfo(event.get(), CL_PROFILING_COMMAND_QUEUED, size, value, size_ret);
      }));
  return result;
}

}  // namespace

DeviceClock::DeviceClock(cl_device_id device) {
  Readings distances{};
  for (int i = 0; i < kSamples; ++i) {
    const Sample seen = sample(device);
    for (std::size_t clock = 0; clock < kClocks.size(); ++clock) distances[clock] += seen.distance(clock);
  }
  const auto nearest = std::min_element(distances.begin(), distances.end());
  if (*nearest < kSamples * kSame) clock_ = kClocks[nearest - distances.begin()];
}

std::int64_t DeviceClock::now() const {
  return read(clock_);
}

std::int64_t DeviceClock::offset_of(cl_device_id device) const {
  const std::int64_t time = sample(device).time;
  if (time == 0) return 0;
  const std::int64_t offset = now() - time;
  return std::llabs(offset) <= kSame ? 0 : offset;
}

}  // namespace clique::daemon::opencl
