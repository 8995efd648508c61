#include "daemon/backend/common/checks.hpp"

#include <algorithm>

namespace clique::daemon {

namespace {
__extension__ using Wide = unsigned __int128;
}  // namespace

std::string over_limit(const std::string& kernel, std::chrono::seconds limit) {
  return "kernel '" + kernel + "' ran for more than " + std::to_string(limit.count()) +
         " s, which is what this node gives a kernel (kernel-timeout of cliqued)";
}

std::uint64_t meant_size(const protocol::Push& push, const std::array<std::uint8_t, 8>& number) {
  std::uint64_t content = 0;
  for (std::size_t i = 0; i < number.size(); ++i) content |= std::uint64_t{number[i]} << (8 * i);
  return std::clamp<std::uint64_t>(content > push.offset ? content - push.offset : 0, 1, push.size);
}

std::uint64_t volume(const protocol::Triple& sizes) {
  std::uint64_t result = 1;
  for (const std::uint64_t size : sizes)
    if (__builtin_mul_overflow(result, size, &result)) throw RuleBroken("a region that overflows");
  return result;
}

void check_rect(const protocol::Triple& origin, const protocol::Triple& region, std::uint64_t row_pitch,
                std::uint64_t slice_pitch, std::uint64_t total) {
  const Wide row = row_pitch != 0 ? row_pitch : region[0];
  const Wide slice = slice_pitch != 0 ? Wide{slice_pitch} : row * region[1];
  constexpr std::uint64_t kLarge = 1ULL << 40U;
  for (int i = 0; i < 3; ++i)
    if (origin[i] > kLarge || region[i] > kLarge) throw RuleBroken("a rectangle of impossible size");
  if (row > kLarge || slice > kLarge) throw RuleBroken("a rectangle with an impossible pitch");
  if (region[0] == 0 || region[1] == 0 || region[2] == 0) return;
  const Wide end =
      slice * (origin[2] + region[2] - 1) + row * (origin[1] + region[1] - 1) + origin[0] + region[0];
  if (end > total) throw RuleBroken("a rectangle that goes beyond its buffer");
}

void check_region(const protocol::Triple& origin, const protocol::Triple& region,
                  const std::array<std::size_t, 3>& extent) {
  for (int i = 0; i < 3; ++i) check_range(origin[i], region[i], extent[i], "a region of pixels");
}

}  // namespace clique::daemon
