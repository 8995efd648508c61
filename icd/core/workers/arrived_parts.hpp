#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>

namespace clique::icd {

/// Which parts of a transfer have arrived. They come in any order, each byte once.
class ArrivedParts {
 public:
  /// Adds a part. @param whole bytes of the transfer
  /// @returns false, having done nothing, if some of the part is beyond the transfer or has arrived before
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
  std::map<std::uint64_t, std::uint64_t> ranges_;  // begin, end; those that touch each other are one
  std::size_t bytes_ = 0;
};

}  // namespace clique::icd
