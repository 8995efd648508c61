#include "daemon/common/pace_page.hpp"

#include <array>
#include <atomic>

namespace clique::daemon {

namespace {

constexpr std::size_t kPacePageSize = 4096;

}  // namespace

/// Zeros are valid numbers, so nobody has to construct them.
struct PacePage::Layout {
  struct alignas(64) Device {
    std::atomic<Pace> pace;
    std::atomic<std::uint64_t> busy;   // nanoseconds
    std::atomic<std::uint64_t> since;  // nanoseconds of the clock, which all processes of the host share
    std::atomic<std::uint32_t> behind;
  };
  alignas(64) std::atomic<std::uint32_t> paced;  // devices that are not Free
  alignas(64) std::atomic<std::uint64_t> beats;
  std::array<Device, kDevices> devices;
};

PacePage::PacePage() : memory_(protocol::SharedSegment::create(kPacePageSize)) {}

PacePage::PacePage(Fd memory) : memory_(protocol::SharedSegment::open(std::move(memory), kPacePageSize)) {}

PacePage::Layout& PacePage::layout() const {
  static_assert(sizeof(Layout) <= kPacePageSize);
  // Processes share them, so there must be no lock beside them.
  static_assert(std::atomic<Pace>::is_always_lock_free && std::atomic<std::uint64_t>::is_always_lock_free);
  return *reinterpret_cast<Layout*>(memory_->bytes().data());
}

bool PacePage::paced() const {
  return layout().paced.load(std::memory_order_relaxed) != 0;
}

Pace PacePage::pace(std::size_t device) const {
  const Pace pace = layout().devices.at(device).pace.load(std::memory_order_relaxed);
  return pace <= Pace::Held ? pace : Pace::Free;
}

void PacePage::set_pace(std::size_t device, Pace pace) const {
  const Pace before = layout().devices.at(device).pace.exchange(pace, std::memory_order_relaxed);
  if ((before == Pace::Free) == (pace == Pace::Free)) return;
  // A worker that has changed the numbers only deceives itself.
  layout().paced.fetch_add(pace == Pace::Free ? -1U : 1U, std::memory_order_relaxed);
}

void PacePage::set_busy(std::size_t device, std::chrono::nanoseconds busy, Clock::time_point since) const {
  Layout::Device& entry = layout().devices.at(device);
  const std::chrono::nanoseconds begin = since.time_since_epoch();
  entry.busy.store(static_cast<std::uint64_t>(busy.count()), std::memory_order_relaxed);
  entry.since.store(static_cast<std::uint64_t>(begin.count()), std::memory_order_relaxed);
}

std::chrono::nanoseconds PacePage::busy(std::size_t device, Clock::time_point now) const {
  const Layout::Device& entry = layout().devices.at(device);
  const std::uint64_t since = entry.since.load(std::memory_order_relaxed);
  std::uint64_t busy = entry.busy.load(std::memory_order_relaxed);
  const auto until = static_cast<std::uint64_t>(std::chrono::nanoseconds(now.time_since_epoch()).count());
  // Unsigned, because the sum of numbers that somebody made up may overflow.
  if (since != 0 && since < until) busy += until - since;
  return std::chrono::nanoseconds(static_cast<std::int64_t>(busy));
}

void PacePage::set_behind(std::size_t device, std::uint32_t kernels) const {
  layout().devices.at(device).behind.store(kernels, std::memory_order_relaxed);
}

std::uint32_t PacePage::behind(std::size_t device) const {
  return layout().devices.at(device).behind.load(std::memory_order_relaxed);
}

void PacePage::beat() const {
  std::atomic<std::uint64_t>& beats = layout().beats;
  beats.store(beats.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

std::uint64_t PacePage::beats() const {
  return layout().beats.load(std::memory_order_relaxed);
}

}  // namespace clique::daemon
