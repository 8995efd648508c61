#include "icd/core/division/movement_meter.hpp"

#include <algorithm>
#include <utility>

namespace clique::icd {

MovementMeter::Speed MovementMeter::speed() const {
  const std::lock_guard lock(mutex_);
  return {speed_.each_byte, speed_.measured, under_way_ > 0};
}

void MovementMeter::began(Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  if (under_way_++ > 0) return;
  since_ = now;
  moved_ = 0;
}

void MovementMeter::ended(Clock::time_point now, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  moved_ += static_cast<double>(bytes);
  if (--under_way_ > 0 || moved_ < least_) return;
  const double time = std::chrono::duration<double, std::nano>(now - since_).count();
  measured_ = std::min(measured_ + moved_, kAveraged * std::max(least_, moved_));
  const double sample = time / moved_;
  if (std::exchange(speed_.measured, true))
    speed_.each_byte += (sample - speed_.each_byte) * moved_ / measured_;
  else
    speed_.each_byte = sample;
}

}  // namespace clique::icd
