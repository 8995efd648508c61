// Random launches of random kernels.
#pragma once

#include <algorithm>
#include <iterator>
#include <optional>

#include "division/random_kernel.hpp"

namespace clique::test::division {

/// A buffer argument: a part of one of the objects.
struct Part {
  unsigned object = 0;
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
};

inline constexpr std::uint64_t kObjectSize = 8192;
/// Sub-buffers begin at multiples of it.
inline constexpr std::uint64_t kAlignment = 128;

/// Objects that are buffers, and then two images of each kind that is not in a buffer.
inline constexpr unsigned kObjects = kBuffers + kImages * (std::size(kImageKinds) - 1);

/// The kind of an image object; null for a buffer.
inline const ImageKind* kind_of(unsigned object) {
  return object < kBuffers ? nullptr : &kImageKinds[(object - kBuffers) / kImages];
}

inline std::uint64_t size_of(unsigned object) {
  const ImageKind* const kind = kind_of(object);
  if (kind == nullptr) return kObjectSize;
  return kind->extent[0] * kind->extent[1] * kind->extent[2] * kind->pixel_size();
}

struct RandomLaunch {
  unsigned dimensions = 1;
  std::array<std::uint64_t, 3> offset{};
  std::array<std::uint64_t, 3> global{1, 1, 1};
  std::array<std::uint64_t, 3> local{1, 1, 1};
  bool has_groups = true;
  Scalars scalars;
  /// Of buffers, then of images, if the kernel has any.
  std::array<Part, kMemoryArguments> buffers;
  const ImageKind* images = nullptr;

  /// @param partial whether the last work-groups may be smaller
  RandomLaunch(Random& random, const RandomKernel& kernel, bool uses_groups, bool partial)
      : images(kernel.images()) {
    dimensions = static_cast<unsigned>(random.percent(50) ? 1 : random.between(2, 3));
    static constexpr std::array<std::array<std::uint64_t, 3>, 3> kMost{
        {{400, 1, 1}, {32, 24, 1}, {12, 8, 6}}};
    for (unsigned d = 0; d < dimensions; ++d) {
      global[d] = 1 + random.below(kMost[dimensions - 1][d]);
      if (random.percent(25)) offset[d] = random.below(40);
    }
    has_groups = uses_groups || random.percent(60);
    for (unsigned d = 0; has_groups && d < dimensions; ++d) {
      local[d] = 1 + random.below(dimensions == 1 ? 24 : 5);
      if (!partial || random.percent(60))
        global[d] = std::max<std::uint64_t>(1, global[d] / local[d]) * local[d];
      local[d] = std::min(local[d], global[d]);
    }
    const auto number = [&](std::int64_t most) {
      return random.percent(5) ? random.between(-most, most)
                               : random.between(random.percent(20) ? -20 : 0, 40);
    };
    scalars.a = static_cast<std::int32_t>(number(2'000'000'000));
    scalars.b = static_cast<std::int32_t>(number(2'000'000'000));
    scalars.c = static_cast<std::uint32_t>(number(2'000'000'000));
    scalars.d = number(std::int64_t{1} << 62U);
    for (unsigned i = 0; i < kBuffers; ++i) {
      buffers[i].object = random.percent(70) ? i : static_cast<unsigned>(random.below(kBuffers));
      if (random.percent(40)) buffers[i].begin = random.below(8) * kAlignment;
      const std::uint64_t rest = kObjectSize - buffers[i].begin;
      buffers[i].size = random.percent(60) ? rest : std::min(rest, 2048 + random.below(rest / 128) * 128);
    }
    for (unsigned i = 0; images != nullptr && i < kImages; ++i) {
      Part& part = buffers[kBuffers + i];
      const auto first = static_cast<unsigned>(images - std::begin(kImageKinds)) * kImages;
      const unsigned which = random.percent(85) ? i : 1 - i;
      part.object = images->in_buffer ? 2 * which : kBuffers + first + which;
      part.size = size_of(part.object);
    }
  }

  std::uint64_t groups(unsigned d) const { return (global[d] + local[d] - 1) / local[d]; }

  /// Where a pixel lies in its image; nothing if that is outside, where writes have no effect. Throws
  /// Undefined.
  std::optional<std::uint64_t> place_of(unsigned image, std::array<std::int64_t, 3> at, bool writes) const {
    std::uint64_t place = 0;
    for (unsigned d = 3; d-- > 0;) {
      const auto last = static_cast<std::int64_t>(images->extent[d]) - 1;
      if (at[d] < 0 || at[d] > last) {
        if (writes) return std::nullopt;
        // Only samplers define what is read there.
        if (image == 0 || images->in_buffer) throw Undefined();
        at[d] = std::clamp<std::int64_t>(at[d], 0, last);
      }
      place = place * images->extent[d] + static_cast<std::uint64_t>(at[d]);
    }
    return place * images->pixel_size();
  }

  /// Calls visit(item) for each work-item of the groups [begin, end).
  template <typename Visit>
  void each_item(const std::array<std::uint64_t, 3>& begin, const std::array<std::uint64_t, 3>& end,
                 Visit&& visit) const {
    Item item;
    item.dimensions = dimensions;
    item.offset = offset;
    item.global_size = global;
    item.enqueued_size = local;
    for (unsigned d = 0; d < 3; ++d) item.groups[d] = groups(d);
    std::array<std::uint64_t, 3> at{};
    const auto first = [&](unsigned d) { return begin[d] * local[d]; };
    const auto last = [&](unsigned d) { return std::min(end[d] * local[d], global[d]); };
    for (at[2] = first(2); at[2] < last(2); ++at[2])
      for (at[1] = first(1); at[1] < last(1); ++at[1])
        for (at[0] = first(0); at[0] < last(0); ++at[0]) {
          for (unsigned d = 0; d < 3; ++d) {
            item.global[d] = offset[d] + at[d];
            item.group[d] = at[d] / local[d];
            item.local[d] = at[d] % local[d];
            item.local_size[d] = std::min(local[d], global[d] - item.group[d] * local[d]);
          }
          visit(item);
        }
  }
};

}  // namespace clique::test::division
