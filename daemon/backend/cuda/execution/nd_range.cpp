#include "daemon/backend/cuda/execution/nd_range.hpp"

#include <algorithm>
#include <limits>

namespace clique::daemon::cuda {

namespace {

/// Work-items of a group that keep a multiprocessor busy, without tying its registers and memory to few
/// groups.
constexpr std::uint64_t kGoodGroup = 256;

/// Consecutive groups of equal size in one dimension that fit into a grid.
struct Stretch {
  std::uint64_t first_group;
  std::uint32_t groups;
  std::uint32_t items;
};

/// The groups that `size` work-items consist of.
std::vector<Stretch> stretches(std::uint64_t size, std::uint64_t local, std::uint32_t most) {
  std::vector<Stretch> result;
  const std::uint64_t whole = size / local;
  for (std::uint64_t first = 0; first < whole; first += most)
    result.push_back({first, static_cast<std::uint32_t>(std::min<std::uint64_t>(most, whole - first)),
                      static_cast<std::uint32_t>(local)});
  if (size % local != 0) result.push_back({whole, 1, static_cast<std::uint32_t>(size % local)});
  return result;
}

/// The largest divisor of `size` that is not above `most`.
std::uint64_t divisor(std::uint64_t size, std::uint64_t most) {
  for (std::uint64_t candidate = std::min(size, most); candidate > 1; --candidate)
    if (size % candidate == 0) return candidate;
  return 1;
}

std::uint64_t power_below(std::uint64_t size) {
  std::uint64_t power = 1;
  while (power * 2 <= size) power *= 2;
  return power;
}

/// The size of a group in one dimension, at most `most`.
std::uint64_t choose(std::uint64_t global, std::uint64_t most, bool uniform) {
  const std::uint64_t exact = divisor(global, most);
  // A partial group at the end costs less than small groups everywhere.
  if (uniform || exact * 2 > std::min(global, most)) return exact;
  return std::min(power_below(most), global);
}

}  // namespace

bool NdRange::uniform() const {
  for (std::size_t i = 0; i < 3; ++i)
    if ((end(i) - begin(i)) % local[i] != 0) return false;
  return true;
}

std::uint64_t count_grids(const NdRange& range, const GridLimits& limits) {
  std::uint64_t count = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::uint64_t size = range.end(i) - range.begin(i);
    const std::uint64_t whole = size / range.local[i];
    const std::uint64_t along = whole / limits.groups[i] + (whole % limits.groups[i] != 0 ? 1 : 0) +
                                (size % range.local[i] != 0 ? 1 : 0);
    if (__builtin_mul_overflow(count, along, &count)) return std::numeric_limits<std::uint64_t>::max();
  }
  return count;
}

std::vector<Grid> split(const NdRange& range, const GridLimits& limits) {
  std::vector<Grid> grids;
  std::array<std::vector<Stretch>, 3> parts;
  for (std::size_t i = 0; i < 3; ++i)
    parts[i] = stretches(range.end(i) - range.begin(i), range.local[i], limits.groups[i]);
  for (const Stretch& z : parts[2])
    for (const Stretch& y : parts[1])
      for (const Stretch& x : parts[0]) {
        Grid grid;
        const std::array<const Stretch*, 3> along{&x, &y, &z};
        for (std::size_t i = 0; i < 3; ++i) {
          grid.groups[i] = along[i]->groups;
          grid.items[i] = along[i]->items;
          grid.first_item[i] = range.offset[i] + range.begin(i) + along[i]->first_group * range.local[i];
          grid.first_group[i] =
              static_cast<std::uint32_t>(range.begin(i) / range.local[i] + along[i]->first_group);
        }
        grids.push_back(grid);
      }
  return grids;
}

std::array<std::uint64_t, 3> choose_local_size(const NdRange& range, std::uint32_t most, bool uniform,
                                               const GridLimits& limits) {
  const std::uint64_t target = std::max<std::uint64_t>(1, std::min<std::uint64_t>(most, kGoodGroup));
  std::array<std::uint64_t, 3> local{1, 1, 1};
  std::array<std::uint64_t, 3> global{};
  for (std::size_t i = 0; i < 3; ++i) global[i] = range.end(i) - range.begin(i);
  // Neighbours in the first dimension usually read neighbouring memory: first as many as a warp has, then the
  // other dimensions.
  const bool flat = global[1] == 1 && global[2] == 1;
  local[0] =
      choose(global[0],
             std::min<std::uint64_t>(flat ? target : std::min<std::uint64_t>(target, kWarp), limits.items[0]),
             uniform);
  local[1] = choose(global[1], std::min<std::uint64_t>(target / local[0], limits.items[1]), uniform);
  local[2] =
      choose(global[2], std::min<std::uint64_t>(target / local[0] / local[1], limits.items[2]), uniform);
  const std::uint64_t rest = local[1] * local[2];
  if (local[0] * rest < target)
    local[0] = std::max(local[0],
                        choose(global[0], std::min<std::uint64_t>(target / rest, limits.items[0]), uniform));
  return local;
}

}  // namespace clique::daemon::cuda
