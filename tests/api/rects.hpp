// Rectangles in linear memory as the *Rect calls address them, for computing expected results on the host.
#pragma once

#include <array>
#include <cstdint>
#include <numeric>

#include "checks.hpp"

namespace clique::test {

using Size3 = std::array<size_t, 3>;
using Bytes = std::vector<unsigned char>;

/// Bytes that differ from their neighbours, also between rows.
inline Bytes numbered_bytes(size_t count, unsigned seed = 0) {
  Bytes bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<unsigned char>((i * 7 + i / 251 + seed) % 251);
  return bytes;
}

/// The origin and the pitches of a rectangle in bytes. A pitch of 0 means "tightly packed".
struct Rect {
  Size3 origin = {0, 0, 0};
  size_t row_pitch = 0;
  size_t slice_pitch = 0;

  size_t offset(const Size3& region, size_t x, size_t y, size_t z) const {
    const size_t row = row_pitch != 0 ? row_pitch : region[0];
    const size_t slice = slice_pitch != 0 ? slice_pitch : region[1] * row;
    return (origin[2] + z) * slice + (origin[1] + y) * row + origin[0] + x;
  }
  /// The number of bytes that memory needs for this rectangle.
  size_t end(const Size3& region) const {
    return offset(region, region[0] - 1, region[1] - 1, region[2] - 1) + 1;
  }
};

inline void copy_rect(const Bytes& from, const Rect& from_rect, Bytes& to, const Rect& to_rect,
                      const Size3& region) {
  for (size_t z = 0; z < region[2]; ++z) {
    for (size_t y = 0; y < region[1]; ++y) {
      for (size_t x = 0; x < region[0]; ++x)
        to[to_rect.offset(region, x, y, z)] = from[from_rect.offset(region, x, y, z)];
    }
  }
}

struct RectCase {
  Size3 region;
  Rect source;
  Rect target;
};

/// Pairs of rectangles with every kind of pitch and origin.
inline const std::vector<RectCase>& rect_cases() {
  static const std::vector<RectCase> cases = {
      {{16, 1, 1}, {}, {}},
      {{16, 8, 1}, {}, {}},
      {{7, 5, 3}, {}, {}},
      {{7, 5, 3}, {{3, 2, 1}, 20, 200}, {}},
      {{7, 5, 3}, {}, {{1, 2, 3}, 13, 13 * 9}},
      {{7, 5, 3}, {{3, 2, 1}, 20, 200}, {{4, 1, 2}, 11, 11 * 6}},
      {{7, 5, 3}, {{0, 0, 0}, 20, 0}, {{0, 0, 0}, 0, 7 * 10}},
      {{1, 1, 9}, {{5, 5, 0}, 16, 16 * 16}, {{0, 0, 0}, 0, 0}},
      {{64, 64, 4}, {{0, 0, 0}, 64, 64 * 64}, {{32, 1, 1}, 128, 128 * 65}},
  };
  return cases;
}

/// An invalid rectangle, and why it is invalid.
struct BadRect {
  const char* why;
  Size3 region;
  Rect rect;
};
/// Rectangles that are invalid in any memory, because of their regions and pitches.
inline std::vector<BadRect> bad_rects() {
  return {
      {"no width", {0, 4, 2}, {}},
      {"no height", {8, 0, 2}, {}},
      {"no depth", {8, 4, 0}, {}},
      {"row pitch below the width", {8, 4, 2}, {{0, 0, 0}, 7, 0}},
      {"slice pitch below the rows", {8, 4, 2}, {{0, 0, 0}, 8, 24}},
      {"slice pitch not a multiple of the row pitch", {8, 4, 2}, {{0, 0, 0}, 8, 36}},
  };
}
/// Rectangles that exceed a buffer of `size` bytes, some with an end that wraps around to a small number.
inline std::vector<BadRect> out_of_bounds_rects(size_t size) {
  return {
      {"too wide", {size + 1, 1, 1}, {}},
      {"origin too far", {8, 4, 2}, {{size, 0, 0}, 8, 32}},
      {"too many rows", {8, size / 8 + 1, 1}, {}},
      {"too many slices", {8, 4, size / 32 + 1}, {}},
      {"wide pitch", {8, 4, 2}, {{0, 0, 0}, size, 0}},
      {"wide slice pitch", {8, 4, 2}, {{0, 0, 0}, 8, size - size % 8 + 8}},
      {"origin wraps around", {8, 4, 2}, {{SIZE_MAX - 3, 0, 0}, 8, 32}},
      {"row origin times pitch wraps around to 0", {8, 1, 1}, {{0, SIZE_MAX / 8 + 1, 0}, 8, 8}},
      {"slice origin times pitch wraps around to 0", {8, 4, 1}, {{0, 0, SIZE_MAX / 32 + 1}, 8, 32}},
      {"rows times pitch wrap around", {8, SIZE_MAX / 8 + 2, 1}, {}},
      {"slices times pitch wrap around", {8, 4, SIZE_MAX / 32 + 2}, {}},
  };
}

}  // namespace clique::test
