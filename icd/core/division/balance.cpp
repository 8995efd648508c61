#include "icd/core/division/balance.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace clique::icd {

namespace {

/// How much longer than the average the longest part may take. To move borders also moves content among
/// members.
constexpr double kUneven = 1.05;

}  // namespace

Borders equal_borders(std::uint64_t groups, std::uint64_t unit, std::size_t parts) {
  Borders borders;
  for (std::size_t i = 0; i < parts; ++i) borders.push_back(groups / unit * i / parts * unit);
  borders.push_back(groups);
  return borders;
}

Borders balanced_borders(const Borders& borders, std::uint64_t unit, std::span<const std::uint64_t> times) {
  const std::size_t parts = times.size();
  const double all = std::accumulate(times.begin(), times.end(), 0.0);
  const double each = all / static_cast<double>(parts);
  const auto longest = static_cast<double>(*std::max_element(times.begin(), times.end()));
  if (longest <= kUneven * each) return {};
  Borders result{0};
  std::size_t part = 0;
  double before = 0;  // the time of the parts before `part`
  for (std::size_t i = 1; i < parts; ++i) {
    const double target = each * static_cast<double>(i);
    while (part + 1 < parts && before + static_cast<double>(times[part]) < target)
      before += static_cast<double>(times[part++]);
    const auto size = static_cast<double>(borders[part + 1] - borders[part]);
    const double share = times[part] == 0 ? 0 : (target - before) / static_cast<double>(times[part]);
    const double place = static_cast<double>(borders[part]) + size * share;
    const auto rounded = static_cast<std::uint64_t>(std::llround(place / static_cast<double>(unit))) * unit;
    // Each part keeps a unit at least.
    const std::uint64_t last = (borders.back() - 1) / unit * unit;
    const std::uint64_t most = last < (parts - 1 - i) * unit ? 0 : last - (parts - 1 - i) * unit;
    result.push_back(std::min(std::max(rounded, result.back() + unit), most));
  }
  result.push_back(borders.back());
  const bool ascends =
      std::adjacent_find(result.begin(), result.end(), std::greater_equal<>()) == result.end();
  return ascends && result != borders ? result : Borders{};
}

}  // namespace clique::icd
