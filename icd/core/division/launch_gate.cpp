#include "icd/core/division/launch_gate.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace clique::icd {

namespace {

/// A launch may also be slow for reasons of its own, such as content that has to come first: later ones
/// count, too.
constexpr double kNew = 0.25;

/// Borders change after so many launches with the same ones. Where a part takes this much longer than the
/// average, the first changes come after each launch.
constexpr unsigned kLaunches = 3;
constexpr double kVeryUneven = 1.25;
constexpr unsigned kQuickChanges = 4;
/// After so many changes, each further one is followed by a pause.
constexpr unsigned kMostChanges = 8;
constexpr unsigned kLongestPause = 1U << 20U;

std::uint64_t longest_of(std::span<const std::uint64_t> times) {
  return *std::max_element(times.begin(), times.end());
}

bool is_very_uneven(std::span<const std::uint64_t> times) {
  const double all = std::accumulate(times.begin(), times.end(), 0.0);
  return static_cast<double>(longest_of(times)) * static_cast<double>(times.size()) > kVeryUneven * all;
}

}  // namespace

void LaunchGate::note(double& known, std::uint64_t time) {
  const auto now = static_cast<double>(time == 0 ? 1 : time);
  known = known == 0 ? now : known + kNew * (now - known);
}

void LaunchGate::measured(const Size& size, std::uint64_t time) {
  const std::lock_guard lock(mutex_);
  note(times_[size].whole, time);
}

void LaunchGate::measured(const Size& size, std::uint64_t time, const Borders& borders, std::uint64_t unit,
                          std::span<const std::uint64_t> parts) {
  const std::lock_guard lock(mutex_);
  Times& times = times_[size];
  // Members compile the kernel and receive what all launches read with the first divided one, which therefore
  // tells nothing of later ones.
  if (!std::exchange(times.tried, true)) return;
  note(times.divided, time);
  if (parts.empty() || (!times.borders.empty() && times.borders != borders)) return;
  if (times.pause > 0) {
    --times.pause;
    return;
  }
  if (times.count == 0) times.least.assign(parts.begin(), parts.end());
  if (times.least.size() != parts.size()) return;
  for (std::size_t i = 0; i < parts.size(); ++i) times.least[i] = std::min(times.least[i], parts[i]);
  const bool quick = times.changes < kQuickChanges && is_very_uneven(times.least);
  if (++times.count < kLaunches && !quick) return;
  times.count = 0;
  Borders next = times.next(borders, unit);
  if (next.empty() || next == borders) return;
  times.borders = std::move(next);
  version_.fetch_add(1, std::memory_order_release);
}

Borders LaunchGate::Times::next(const Borders& now, std::uint64_t unit) {
  const auto longest = static_cast<double>(longest_of(least));
  const bool worse = !best.empty() && best != now && longest >= best_time;
  // If times do not grow evenly with the number of groups, other borders look better, but are not.
  Borders result = worse ? best : balanced_borders(now, unit, least);
  if (!worse) {
    best = now;
    best_time = longest;
  }
  if (result.empty()) return result;
  if (++changes >= kMostChanges || worse) {
    pause = next_pause;
    next_pause = std::min(2 * pause, kLongestPause);
  }
  return result;
}

Borders LaunchGate::borders(const Size& size) const {
  const std::lock_guard lock(mutex_);
  const auto found = times_.find(size);
  return found == times_.end() ? Borders{} : found->second.borders;
}

std::shared_ptr<LaunchGate> LaunchGates::of(const void* device) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<LaunchGate>& gate = gates_[device];
  if (!gate) gate = std::make_shared<LaunchGate>();
  return gate;
}

}  // namespace clique::icd
