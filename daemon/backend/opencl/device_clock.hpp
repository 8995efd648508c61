#pragma once

#include <ctime>

#include "daemon/backend/opencl/native.hpp"

namespace clique::daemon::opencl {

/// The clock that a driver's profiling times are on. It is one of the host's where the driver uses one (as
/// CPU drivers do), else the host's monotonic clock, to which the devices' times are shifted.
class DeviceClock {
 public:
  /// Chooses by looking at the time that `device` gives to a command. Works without it, too, if the driver
  /// fails.
  explicit DeviceClock(cl_device_id device);

  /// Nanoseconds. Any thread.
  std::int64_t now() const;
  /// What has to be added to another device's times to be on this clock.
  std::int64_t offset_of(cl_device_id device) const;

 private:
  clockid_t clock_ = CLOCK_MONOTONIC;
};

}  // namespace clique::daemon::opencl
