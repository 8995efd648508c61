#include "icd/core/division/range_set.hpp"

#include <algorithm>
#include <numeric>

namespace clique::icd {

std::uint64_t RangeSet::bytes() const {
  return std::accumulate(ranges_.begin(), ranges_.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const Range& range) { return sum + range.end - range.begin; });
}

void RangeSet::add(std::uint64_t begin, std::uint64_t end) {
  if (begin >= end) return;
  // The ranges that overlap or touch the new one.
  const auto first = std::lower_bound(ranges_.begin(), ranges_.end(), begin,
                                      [](const Range& range, std::uint64_t at) { return range.end < at; });
  auto last = first;
  for (; last != ranges_.end() && last->begin <= end; ++last) {
    begin = std::min(begin, last->begin);
    end = std::max(end, last->end);
  }
  if (first == last) {
    ranges_.insert(first, {begin, end});
  } else {
    *first = {begin, end};
    ranges_.erase(first + 1, last);
  }
}

void RangeSet::add(const RangeSet& other) {
  for (const Range& range : other.ranges_) add(range.begin, range.end);
}

void RangeSet::remove(const RangeSet& other) {
  std::vector<Range> rest;
  auto gone = other.ranges_.begin();
  for (const Range& range : ranges_) {
    std::uint64_t begin = range.begin;
    while (gone != other.ranges_.end() && gone->end <= begin) ++gone;
    for (auto each = gone; each != other.ranges_.end() && each->begin < range.end; ++each) {
      if (begin < each->begin) rest.push_back({begin, each->begin});
      begin = std::max(begin, each->end);
    }
    if (begin < range.end) rest.push_back({begin, range.end});
  }
  ranges_ = std::move(rest);
}

bool RangeSet::intersects(const RangeSet& other) const {
  auto a = ranges_.begin();
  auto b = other.ranges_.begin();
  while (a != ranges_.end() && b != other.ranges_.end()) {
    if (a->begin < b->end && b->begin < a->end) return true;
    if (a->end < b->end)
      ++a;
    else
      ++b;
  }
  return false;
}

}  // namespace clique::icd
