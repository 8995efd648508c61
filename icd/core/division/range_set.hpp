#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace clique::icd {

/// A set of bytes of a memory object, as ranges [begin, end) that neither overlap nor touch, in order.
class RangeSet {
 public:
  struct Range {
    std::uint64_t begin;
    std::uint64_t end;
    friend bool operator==(const Range&, const Range&) = default;
  };

  bool empty() const { return ranges_.empty(); }
  std::span<const Range> ranges() const { return ranges_; }
  std::uint64_t bytes() const;
  /// Adds [begin, end), which may overlap others; nothing if it is empty.
  void add(std::uint64_t begin, std::uint64_t end);
  void add(const RangeSet& other);
  /// Takes away what another set contains.
  void remove(const RangeSet& other);
  /// Whether the sets have a byte in common.
  bool intersects(const RangeSet& other) const;

  friend bool operator==(const RangeSet&, const RangeSet&) = default;

 private:
  std::vector<Range> ranges_;
};

}  // namespace clique::icd
