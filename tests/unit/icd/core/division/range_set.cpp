#include "icd/core/division/range_set.hpp"

#include <gtest/gtest.h>

#include <bitset>
#include <random>

namespace clique::icd {

namespace {

TEST(RangeSet, GivenTouchingAndOverlappingRangesThenTheyAreOne) {
  RangeSet set;
  set.add(10, 20);
  set.add(30, 40);
  set.add(20, 25);
  set.add(24, 31);
  ASSERT_EQ(set.ranges().size(), 1U);
  EXPECT_EQ(set.ranges().front(), (RangeSet::Range{10, 40}));
  EXPECT_EQ(set.bytes(), 30U);
}

TEST(RangeSet, GivenEmptyRangeThenNothingIsAdded) {
  RangeSet set;
  set.add(5, 5);
  set.add(7, 6);
  EXPECT_TRUE(set.empty());
}

TEST(RangeSet, GivenNeighboursThenTheyDoNotIntersect) {
  RangeSet one;
  RangeSet other;
  one.add(0, 10);
  one.add(20, 30);
  other.add(10, 20);
  EXPECT_FALSE(one.intersects(other));
  other.add(29, 35);
  EXPECT_TRUE(one.intersects(other));
  EXPECT_TRUE(other.intersects(one));
}

TEST(RangeSet, GivenRandomSetsThenTheyBehaveLikeSetsOfBytes) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    RangeSet sets[2];
    std::bitset<128> bytes[2];
    for (int i = 0; i < 2; ++i)
      for (auto count = random() % 8; count > 0; --count) {
        const auto begin = random() % 128;
        const auto end = std::min<std::uint64_t>(128, begin + random() % 20);
        sets[i].add(begin, end);
        for (auto at = begin; at < end; ++at) bytes[i].set(at);
      }
    EXPECT_EQ(sets[0].intersects(sets[1]), (bytes[0] & bytes[1]).any());
    RangeSet both = sets[0];
    both.add(sets[1]);
    EXPECT_EQ(both.bytes(), (bytes[0] | bytes[1]).count());
    RangeSet rest = sets[0];
    rest.remove(sets[1]);
    EXPECT_EQ(rest.bytes(), (bytes[0] & ~bytes[1]).count());
    EXPECT_FALSE(rest.intersects(sets[1]));
  }
}

}  // namespace

}  // namespace clique::icd
