#include "icd/core/division/launch_gate.hpp"

#include <algorithm>
#include <utility>

namespace clique::icd {

namespace {

/// A launch may also be slow for reasons of its own, such as content that has to come first: later ones
/// count, too.
constexpr double kNew = 0.25;

/// Borders change after so many launches with the same ones, and at most so many times: then, launches differ
/// too much from one another.
constexpr unsigned kLaunches = 3;
constexpr unsigned kMostChanges = 8;

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
  if (times.changes == kMostChanges || (!times.borders.empty() && times.borders != borders)) return;
  if (times.count == 0) times.least.assign(parts.begin(), parts.end());
  if (times.least.size() != parts.size()) return;
  for (std::size_t i = 0; i < parts.size(); ++i) times.least[i] = std::min(times.least[i], parts[i]);
  if (++times.count < kLaunches) return;
  times.count = 0;
  const auto longest = static_cast<double>(*std::max_element(times.least.begin(), times.least.end()));
  Borders next;
  if (times.best.empty() || longest < times.best_time) {
    times.best = borders;
    times.best_time = longest;
    next = balanced_borders(borders, unit, times.least);
    if (next.empty()) return;
    ++times.changes;
  } else {
    // Times do not grow evenly with the number of groups: these borders looked better, but are not.
    next = times.best;
    times.changes = kMostChanges;
  }
  if (next == borders) return;
  times.borders = std::move(next);
  version_.fetch_add(1, std::memory_order_release);
}

Borders LaunchGate::borders(const Size& size) const {
  const std::lock_guard lock(mutex_);
  const auto found = times_.find(size);
  return found == times_.end() ? Borders{} : found->second.borders;
}

}  // namespace clique::icd
