#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>

namespace clique::icd {

/// The parts of a transfer that have arrived. They may arrive in any order, but each byte only once.
class ArrivedParts {
 public:
  /// Adds a part, unless it exceeds the transfer or overlaps an earlier part.
  /// @param whole size of the transfer in bytes
  /// @returns whether the part was added
  bool add(std::uint64_t offset, std::size_t size, std::size_t whole) {
    if (offset > whole || size > whole - offset) return false;
    std::uint64_t begin = offset;
    std::uint64_t end = offset + size;
    auto next = ranges_.lower_bound(begin);
    if (next != ranges_.end() && next->first < end) return false;
    if (next != ranges_.begin()) {
      const auto before = std::prev(next);
      if (before->second > begin) return false;
      if (before->second == begin) {
        begin = before->first;
        ranges_.erase(before);
      }
    }
    if (next != ranges_.end() && next->first == end) {
      end = next->second;
      ranges_.erase(next);
    }
    ranges_.emplace(begin, end);
    bytes_ += size;
    return true;
  }
  /// The bytes that have arrived.
  std::size_t bytes() const { return bytes_; }

 private:
  std::map<std::uint64_t, std::uint64_t> ranges_;  // begin, end; adjacent ranges are merged
  std::size_t bytes_ = 0;
};

}  // namespace clique::icd
