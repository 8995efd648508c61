#pragma once

#include <ctime>

#include "daemon/backend/opencl/native.hpp"

namespace clique::daemon::opencl {

/// The clock of a driver's profiling times: the clock of the host that the driver uses, as drivers for
/// processors do, or else CLOCK_MONOTONIC, to which the devices' times are shifted.
class DeviceClock {
 public:
  /// Finds the clock by comparing the device's time of a command with the host's clocks. If the driver cannot
  /// tell the time, the clock is CLOCK_MONOTONIC.
  explicit DeviceClock(cl_device_id device);

  /// The current time in nanoseconds. Any thread.
  std::int64_t now() const;
  /// What has to be added to the device's times, in nanoseconds, to bring them onto this clock.
  std::int64_t offset_of(cl_device_id device) const;

 private:
  clockid_t clock_ = CLOCK_MONOTONIC;
};

}  // namespace clique::daemon::opencl
