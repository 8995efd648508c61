#include "icd/core/division/shared_borders.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <utility>

namespace clique::icd {

namespace {

/// Borders change after so many launches with the same ones. Where a part takes this much longer than the
/// average, the first changes come after each launch.
constexpr unsigned kLaunches = 3;
constexpr double kVeryUneven = 1.25;
constexpr unsigned kQuickChanges = 4;
/// After so many changes, each further one is followed by a pause.
constexpr unsigned kMostChanges = 8;
constexpr unsigned kLongestPause = 1U << 20U;
/// A pause is shorter by this factor if parts stay very uneven meanwhile: they do not differ by chance.
constexpr unsigned kShorter = 4;

std::uint64_t longest_of(std::span<const std::uint64_t> times) {
  return *std::max_element(times.begin(), times.end());
}

bool is_very_uneven(std::span<const std::uint64_t> times) {
  const double all = std::accumulate(times.begin(), times.end(), 0.0);
  return static_cast<double>(longest_of(times)) * static_cast<double>(times.size()) > kVeryUneven * all;
}

std::uint64_t new_version() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

SharedBorders::Kernel& SharedBorders::of(const void* who) {
  const auto found =
      std::find_if(kernels_.begin(), kernels_.end(), [who](const Kernel& one) { return one.who == who; });
  return found == kernels_.end() ? kernels_.emplace_back(Kernel{who, 0, {}}) : *found;
}

void SharedBorders::forget(const void* who) {
  std::erase_if(kernels_, [who](const Kernel& one) { return one.who == who; });
}

bool SharedBorders::is_time(const Kernel& last) const {
  const bool all =
      std::all_of(kernels_.begin(), kernels_.end(), [](const Kernel& one) { return one.count > 0; });
  // Some kernels are launched only at the begin.
  if (!all) return last.count >= 2 * kLaunches;
  return last.count >= kLaunches || (changes_ < kQuickChanges && is_very_uneven(sums()));
}

bool SharedBorders::stays_uneven(const Kernel& last) {
  const bool enough = last.count >= next_pause_ / 2 / kShorter;
  if (enough && is_very_uneven(sums())) return true;
  // What follows is measured anew.
  if (enough || pause_ == 0)
    for (Kernel& one : kernels_) one.count = 0;
  return false;
}

std::vector<std::uint64_t> SharedBorders::sums() const {
  std::vector<std::uint64_t> sums;
  for (const Kernel& one : kernels_) {
    if (one.count == 0) continue;
    sums.resize(one.least.size());
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += one.least[i];
  }
  return sums;
}

bool SharedBorders::measured(const void* who, const Borders& borders, std::uint64_t unit,
                             std::span<const std::uint64_t> parts) {
  if (parts.empty() || parts.size() + 1 != borders.size()) return false;
  if (!borders_.empty() && borders_ != borders) return false;
  const bool pausing = pause_ > 0;
  if (pausing) --pause_;
  Kernel& kernel = of(who);
  if (kernel.count == 0) kernel.least.assign(parts.begin(), parts.end());
  if (kernel.least.size() != parts.size()) return false;
  for (std::size_t i = 0; i < parts.size(); ++i) kernel.least[i] = std::min(kernel.least[i], parts[i]);
  ++kernel.count;
  if (pausing ? !stays_uneven(kernel) : !is_time(kernel)) return false;
  pause_ = 0;
  std::erase_if(kernels_, [](const Kernel& one) { return one.count == 0; });
  const std::vector<std::uint64_t> times = sums();
  Borders changed = next(borders, unit, times);
  for (Kernel& one : kernels_) one.count = 0;
  if (changed.empty() || changed == borders) return false;
  borders_ = std::move(changed);
  version_ = new_version();
  return true;
}

Borders SharedBorders::next(const Borders& now, std::uint64_t unit, std::span<const std::uint64_t> times) {
  const auto longest = static_cast<double>(longest_of(times));
  if (best_kernels_ != kernels_.size()) best_.clear();
  const bool worse = !best_.empty() && best_ != now && longest >= best_time_;
  // If times do not grow evenly with the number of groups, other borders look better, but are not.
  Borders result = worse ? best_ : balanced_borders(now, unit, times);
  if (!worse) {
    best_ = now;
    best_time_ = longest;
    best_kernels_ = kernels_.size();
  }
  if (result.empty()) return result;
  if (++changes_ >= kMostChanges || worse) {
    pause_ = next_pause_;
    next_pause_ = std::min(2 * pause_, kLongestPause);
  }
  return result;
}

}  // namespace clique::icd
