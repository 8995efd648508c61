#include "icd/core/transfers/layout.hpp"

#include <algorithm>
#include <cstring>

#include "protocol/limits.hpp"

namespace clique::icd {

using protocol::kPartSize;

void copy_box(std::byte* to, const Pitches& to_pitches, const std::byte* from, const Pitches& from_pitches,
              const protocol::Triple& region) {
  for (std::size_t z = 0; z < region[2]; ++z)
    for (std::size_t y = 0; y < region[1]; ++y)
      std::memcpy(to + z * to_pitches.slice + y * to_pitches.row,
                  from + z * from_pitches.slice + y * from_pitches.row, region[0]);
}

std::vector<BoxPart> split(const protocol::Triple& region, std::size_t element) {
  std::vector<BoxPart> parts;
  const std::size_t row = region[0] * element;
  const std::size_t slice = row * region[1];
  // The extent of one part.
  protocol::Triple step = region;
  if (slice <= kPartSize) {
    step[2] = std::max<std::size_t>(1, kPartSize / std::max<std::size_t>(1, slice));
  } else {
    step[2] = 1;
    step[1] = std::max<std::size_t>(1, kPartSize / row);
    if (row > kPartSize) step[0] = std::max<std::size_t>(1, kPartSize / element);
  }
  for (std::size_t z = 0; z < region[2]; z += step[2])
    for (std::size_t y = 0; y < region[1]; y += step[1])
      for (std::size_t x = 0; x < region[0]; x += step[0])
        parts.push_back({{x, y, z},
                         {std::min(step[0], region[0] - x), std::min(step[1], region[1] - y),
                          std::min(step[2], region[2] - z)}});
  return parts;
}

}  // namespace clique::icd
