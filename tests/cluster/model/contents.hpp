// The model's knowledge of the content of memory, and the arithmetic of the kernels.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace clique::test::model {

/// The model's knowledge of one byte: its value, or kUnknown if it may have any value.
using Cell = std::uint16_t;
inline constexpr Cell kUnknown = 0x100;
using Contents = std::vector<Cell>;

/// Every kernel computes with this function. Its result depends on position and step, so that data from a
/// wrong place or step is noticed.
inline std::uint32_t advanced(std::uint32_t value, std::size_t position, std::uint32_t salt) {
  return value * 1664525U + static_cast<std::uint32_t>(position) * 2654435761U + salt;
}

/// A number of several bytes. It is known if all its bytes are.
struct Number {
  std::uint32_t value = 0;
  bool known = true;
};

inline Number number_at(const Contents& contents, std::size_t at, std::size_t bytes = 4) {
  Number number;
  for (std::size_t i = 0; i < bytes; ++i) {
    number.known = number.known && contents[at + i] != kUnknown;
    number.value |= static_cast<std::uint32_t>(contents[at + i] & 0xFFU) << (8 * i);
  }
  return number;
}

inline void put_number(Contents& contents, std::size_t at, Number number, std::size_t bytes = 4) {
  for (std::size_t i = 0; i < bytes; ++i)
    contents[at + i] = number.known ? static_cast<Cell>((number.value >> (8 * i)) & 0xFFU) : kUnknown;
}

using Triple = std::array<std::size_t, 3>;

/// The position of a box of bytes in linear memory; x is in bytes.
struct Box {
  Triple origin{};
  Triple region{};
  std::size_t row = 0;
  std::size_t slice = 0;

  std::size_t begin() const { return origin[0] + origin[1] * row + origin[2] * slice; }
  std::size_t size() const { return (region[2] - 1) * slice + (region[1] - 1) * row + region[0]; }
  std::size_t end() const { return begin() + size(); }
  /// For the first byte of every row, calls visit(position in memory, position in the box without gaps).
  template <typename Visit>
  void rows(Visit&& visit) const {
    for (std::size_t z = 0; z < region[2]; ++z)
      for (std::size_t y = 0; y < region[1]; ++y)
        visit(begin() + z * slice + y * row, (z * region[1] + y) * region[0]);
  }
};

/// Copies the rows of one box into those of another one.
inline void copy_rows(const Contents& from, const Box& source, Contents& to, const Box& destination) {
  std::vector<std::size_t> rows;
  source.rows([&](std::size_t at, std::size_t) { rows.push_back(at); });
  std::size_t next = 0;
  destination.rows([&](std::size_t at, std::size_t) {
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(rows[next++]), destination.region[0],
                to.begin() + static_cast<std::ptrdiff_t>(at));
  });
}

/// The box `by` bytes further on in each row.
inline Box moved(Box box, std::size_t by) {
  box.origin[0] += by;
  return box;
}

}  // namespace clique::test::model
