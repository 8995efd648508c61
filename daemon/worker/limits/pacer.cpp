#include "daemon/worker/limits/pacer.hpp"

#include <unistd.h>

#include <algorithm>

namespace clique::daemon {

namespace {

using namespace std::chrono_literals;

/// How much work is handed to a device ahead, while other sessions use it. Enough that the device does not
/// run dry between two turns of the main thread, and little enough that the others soon have their turn.
constexpr std::chrono::nanoseconds kAhead = 8ms;
/// The same of sessions that take turns: what a session has handed over runs into the next one's turn.
constexpr std::chrono::nanoseconds kAheadInTurns = 4ms;
constexpr std::uint32_t kMostInFlight = 4096;
/// Of kernels that take longer: one that runs, and one that follows it without a gap.
constexpr std::uint32_t kLeastInFlight = 2;
/// The typical time of kernels is that of the last ones: of at most so many, in at most this time.
constexpr std::uint32_t kRemembered = 128;
constexpr std::chrono::nanoseconds kRememberedTime = 1s;
/// After this time, and after this many times the typical time of a kernel, without an end, what is in flight
/// waits for something that may come behind the kernel, such as a user event.
constexpr std::chrono::nanoseconds kStuckAfter = 20ms;
constexpr int kStuckAfterKernels = 4;
/// Nobody is held longer than this, whatever the daemon says: it may be stopped itself.
constexpr auto kLongestHold = 500ms;
/// How often a worker that is held looks whether it still is. Nobody wakes it, since the daemon would need a
/// system call for that.
constexpr std::chrono::milliseconds kLookAgain = 2ms;
/// How often the daemon has to see that the worker runs, well below its patience.
constexpr std::chrono::milliseconds kBeatInterval = 10ms;

}  // namespace

class Pacer::Ticket {
 public:
  Ticket(Pacer& pacer, std::size_t device) : pacer_(pacer), device_(device), launched_(Clock::now()) {}
  Ticket(const Ticket&) = delete;
  Ticket& operator=(const Ticket&) = delete;
  ~Ticket() { pacer_.ended(device_, launched_); }
  Clock::time_point launched() const { return launched_; }

 private:
  Pacer& pacer_;
  const std::size_t device_;
  const Clock::time_point launched_;
};

std::uint32_t Pacer::Load::most_in_flight(std::chrono::nanoseconds ahead) const {
  if (kernels == 0) return kLeastInFlight;
  const auto one = std::max(typical_time(), 1ns);
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(ahead / one, kLeastInFlight, kMostInFlight));
}

std::shared_ptr<const void> Pacer::count(std::size_t device) {
  if (device >= PacePage::kDevices) return nullptr;
  const Pace pace = page_->pace(device);
  if (pace == Pace::Free) return nullptr;
  auto ticket = std::make_shared<const Ticket>(*this, device);
  bool ring = false;
  {
    const std::lock_guard lock(mutex_);
    Load& load = loads_.at(device);
    used_ = std::max(used_, device + 1);
    if (load.in_flight++ == 0) {
      load.since = ticket->launched();
      page_->set_busy(device, load.busy, load.since);
    }
    tell_behind(device);
    const bool dozes = pace == Pace::Doze;
    ring = dozes && !load.rung;
    load.rung = dozes;
  }
  const std::uint64_t once = 1;
  // If the bell cannot ring, it has been rung often enough.
  if (ring && bell_.get() >= 0) static_cast<void>(::write(bell_.get(), &once, sizeof once));
  return ticket;
}

void Pacer::ended(std::size_t device, Clock::time_point launched) {
  const auto now = Clock::now();
  bool waits = false;
  {
    const std::lock_guard lock(mutex_);
    Load& load = loads_.at(device);
    if (--load.in_flight == 0) {
      load.busy += now - load.since;
      load.since = {};
      page_->set_busy(device, load.busy, load.since);
    }
    tell_behind(device);
    load.time += now - std::max(launched, load.last_end);
    load.last_end = now;
    load.stuck = false;
    if (++load.kernels >= kRemembered || (load.time > kRememberedTime && load.kernels > 1)) {
      load.kernels /= 2;
      load.time /= 2;
    }
    waits = waits_since_.has_value();
  }
  if (waits) tasks_.post([] {});
}

bool Pacer::admits(Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  for (std::size_t device = 0; device < used_; ++device) {
    Load& load = loads_.at(device);
    const bool waits = !admits_on(device, now);
    if (waits != load.waits) {
      load.waits = waits;
      tell_behind(device);
    }
    if (waits) {
      if (!waits_since_) waits_since_ = now;
      return false;
    }
  }
  waits_since_.reset();
  return true;
}

void Pacer::tell_behind(std::size_t device) const {
  if (!turns_) return;
  const Load& load = loads_.at(device);
  page_->set_behind(device, (load.in_flight > 0 ? load.in_flight - 1 : 0) + (load.waits ? 1 : 0));
}

bool Pacer::admits_on(std::size_t device, Clock::time_point now) {
  const Pace pace = page_->pace(device);
  const auto waited = waits_since_ ? now - *waits_since_ : Clock::duration::zero();
  held_ = pace == Pace::Held;
  if (held_) return waited >= kLongestHold;
  Load& load = loads_.at(device);
  if (pace != Pace::Counted || load.stuck ||
      load.in_flight < load.most_in_flight(turns_ ? kAheadInTurns : kAhead))
    return true;
  const auto patience = std::max(kStuckAfter, kStuckAfterKernels * load.typical_time());
  load.stuck = waited > patience && now - load.last_end > patience;
  return load.stuck;
}

std::chrono::milliseconds Pacer::again() const {
  const std::lock_guard lock(mutex_);
  return held_ ? kLookAgain : kBeatInterval;
}

std::chrono::milliseconds Pacer::longest_sleep(std::chrono::milliseconds longest) const {
  if (!paced()) return longest;
  const std::lock_guard lock(mutex_);
  const auto busy = [](const Load& load) { return load.in_flight > 0; };
  return std::any_of(loads_.begin(), loads_.begin() + static_cast<std::ptrdiff_t>(used_), busy)
             ? std::min<std::chrono::milliseconds>(longest, kBeatInterval)
             : longest;
}

}  // namespace clique::daemon
