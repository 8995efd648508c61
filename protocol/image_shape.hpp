// How the content of an image travels: without gaps.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace clique::protocol {

/// The size of an image, as transfers need it.
struct ImageShape {
  std::uint64_t element_size = 0;  ///< bytes of a pixel
  /// In pixels, as in regions: the layers of an array are the last dimension that is used.
  std::array<std::size_t, 3> extent{1, 1, 1};
};

/// A region of an image that is contiguous if the image is stored without gaps.
struct ImageBlock {
  std::array<std::size_t, 3> origin{};
  std::array<std::size_t, 3> region{};
  std::uint64_t size = 0;  ///< in bytes
};

/// The largest block that begins `offset` bytes into the image and has at most `limit` bytes: whole slices,
/// else whole rows, else pixels. Its size is 0 if no block begins there.
inline ImageBlock block_at(const ImageShape& image, std::uint64_t offset, std::uint64_t limit) {
  const auto [width, height, depth] = image.extent;
  const std::uint64_t row = width * image.element_size;
  const std::uint64_t slice = row * height;
  if (slice == 0 || offset >= slice * depth || offset % image.element_size != 0) return {};
  ImageBlock block;
  block.origin = {offset % row / image.element_size, offset % slice / row, offset / slice};
  if (offset % slice == 0 && limit >= slice) {
    block.region = {width, height, std::min<std::size_t>(limit / slice, depth - block.origin[2])};
  } else if (offset % row == 0 && limit >= row) {
    block.region = {width, std::min<std::size_t>(limit / row, height - block.origin[1]), 1};
  } else {
    block.region = {std::min<std::size_t>(limit / image.element_size, width - block.origin[0]), 1, 1};
  }
  block.size = block.region[0] * block.region[1] * block.region[2] * image.element_size;
  return block;
}

}  // namespace clique::protocol
