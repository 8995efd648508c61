// Boxes of bytes: how they lie in memory, and how large ones are split into parts.
#pragma once

#include <cstddef>
#include <vector>

#include "protocol/messages/message.hpp"

namespace clique::icd {

/// The distances in memory, in bytes, from one row of a box to the next and from one slice to the next.
struct Pitches {
  std::size_t row;
  std::size_t slice;
};

/// The pitches of a box without gaps. x in bytes.
inline Pitches dense(const protocol::Triple& region) {
  return {region[0], region[0] * region[1]};
}

/// Bytes from a box's first byte to the one after its last. x in bytes.
inline std::size_t extent(const protocol::Triple& region, const Pitches& pitches) {
  return (region[2] - 1) * pitches.slice + (region[1] - 1) * pitches.row + region[0];
}

/// Where a box lies in a buffer. x in bytes.
struct Box {
  protocol::Triple origin{};
  Pitches pitches{};
  /// Bytes from the beginning of the buffer to the box's first byte.
  std::size_t begin() const { return origin[0] + origin[1] * pitches.row + origin[2] * pitches.slice; }
  /// Bytes from the beginning of the buffer to the one after the box's last.
  std::size_t end(const protocol::Triple& region) const { return begin() + extent(region, pitches); }
};

/// Copies a box between two layouts. Both pointers are to its first byte. x in bytes.
void copy_box(std::byte* to, const Pitches& to_pitches, const std::byte* from, const Pitches& from_pitches,
              const protocol::Triple& region);

/// A part of a box: its origin relative to the box's, and its extent. x in elements.
struct BoxPart {
  protocol::Triple origin;
  protocol::Triple region;

  /// Bytes from the box's first byte to the part's, in memory with these pitches.
  /// @param element bytes of one element.
  std::size_t offset(std::size_t element, const Pitches& pitches) const {
    return origin[0] * element + origin[1] * pitches.row + origin[2] * pitches.slice;
  }
  /// The extent with x in bytes.
  protocol::Triple bytes(std::size_t element) const { return {region[0] * element, region[1], region[2]}; }
};

/// Splits a box into parts of at most protocol::kPartSize bytes, in the order of memory: into whole slices if
/// these are small enough, else into whole rows, else into pieces of rows.
/// @param element bytes of one element in x.
std::vector<BoxPart> split(const protocol::Triple& region, std::size_t element);

}  // namespace clique::icd
