#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>

namespace clique::protocol {

/// The free ranges of a piece of memory that is handed out in blocks. Not thread-safe.
class FreeRanges {
 public:
  explicit FreeRanges(std::size_t size) { free_.emplace(0, size); }

  /// @returns the offset of a block of `size` bytes; nothing if none is free.
  std::optional<std::size_t> take(std::size_t size) {
    // The lowest range that fits was probably used last, and is in a cache.
    const auto place =
        std::find_if(free_.begin(), free_.end(), [size](const auto& range) { return range.second >= size; });
    if (place == free_.end()) return {};
    const auto [offset, available] = *place;
    free_.erase(place);
    if (available > size) free_.emplace(offset + size, available - size);
    return offset;
  }

  /// Makes a block free again.
  void give_back(std::size_t offset, std::size_t size) {
    const auto next = free_.lower_bound(offset);
    if (next != free_.end() && offset + size == next->first) {
      size += next->second;
      free_.erase(next);
    }
    const auto after = free_.lower_bound(offset);
    if (after != free_.begin()) {
      const auto before = std::prev(after);
      if (before->first + before->second == offset) {
        before->second += size;
        return;
      }
    }
    free_.emplace(offset, size);
  }

 private:
  std::map<std::size_t, std::size_t> free_;  // offset, bytes
};

}  // namespace clique::protocol
