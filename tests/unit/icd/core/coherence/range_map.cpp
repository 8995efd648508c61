// The bookkeeping of coherence: which holders have which ranges, compared with a model that has one entry per
// byte.
#include "icd/core/coherence/range_map.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <set>

namespace clique::icd {
namespace {

using IntMap = RangeMap<int>;

/// Later tokens of a holder supersede earlier even ones, as commands of one in-order queue do.
auto supersedes_even = [](int earlier) { return earlier % 2 == 0; };

std::vector<Holder> holders_at(IntMap& map, std::uint64_t at) {
  std::vector<Holder> holders;
  map.visit(at, at + 1, [&](IntMap::Piece& piece) {
    for (const auto& copy : piece.copies) holders.push_back(copy.holder);
  });
  return holders;
}

TEST(RangeMap, GivenNothingWrittenThenNothingIsVisited) {
  IntMap map;
  map.visit(0, 100, [](IntMap::Piece&) { FAIL(); });
  EXPECT_TRUE(map.empty());
}

TEST(RangeMap, GivenPartlyWrittenRangeWhenVisitedThenPiecesAreClipped) {
  IntMap map;
  map.write(10, 20, 1, 7, supersedes_even);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> seen;
  map.visit(15, 40, [&](IntMap::Piece& piece) { seen.emplace_back(piece.begin, piece.end); });
  EXPECT_EQ((std::vector<std::pair<std::uint64_t, std::uint64_t>>{{15, 20}}), seen);
  EXPECT_EQ(1U, map.pieces().size()) << "equal neighbours are joined again";
}

TEST(RangeMap, GivenCopiesWhenOneHolderWritesThenTheOthersAreStale) {
  IntMap map;
  map.write(0, 100, 1, 1, supersedes_even);
  map.add_copy(0, 100, 2, 3);
  EXPECT_EQ((std::vector<Holder>{1, 2}), holders_at(map, 50));
  map.write(40, 60, 2, 5, supersedes_even);
  EXPECT_EQ((std::vector<Holder>{1, 2}), holders_at(map, 39));
  EXPECT_EQ((std::vector<Holder>{2}), holders_at(map, 40));
  EXPECT_EQ((std::vector<Holder>{2}), holders_at(map, 59));
  EXPECT_EQ((std::vector<Holder>{1, 2}), holders_at(map, 60));
  EXPECT_EQ(3U, map.pieces().size());
}

TEST(RangeMap, GivenSoleHolderWhenItWritesAgainThenUnorderedTokensStay) {
  IntMap map;
  map.write(0, 10, 1, 1, supersedes_even);
  map.write(0, 10, 1, 2, supersedes_even);
  map.write(0, 10, 1, 4, supersedes_even);
  ASSERT_EQ(1U, map.pieces().size());
  EXPECT_EQ((std::vector<int>{1, 4}), map.pieces().begin()->second.copies.front().ready);
}

TEST(RangeMap, GivenDroppedHolderThenItsContentIsLostOnlyWhereNobodyElseHasIt) {
  IntMap map;
  map.write(0, 10, 1, 1, supersedes_even);
  map.add_copy(0, 5, 2, 3);
  map.drop(1);
  EXPECT_EQ((std::vector<Holder>{2}), holders_at(map, 4));
  EXPECT_TRUE(holders_at(map, 5).empty());
  int visited = 0;
  map.visit(5, 10, [&](IntMap::Piece& piece) { visited += piece.copies.empty() ? 1 : 0; });
  EXPECT_EQ(1, visited) << "lost content is not the same as content never written";
}

TEST(RangeMap, GivenRandomOperationsThenEveryByteHasTheHoldersOfTheModel) {
  constexpr std::uint64_t kSize = 64;
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    IntMap map;
    std::array<std::set<Holder>, kSize> model;
    for (int step = 0; step < 100; ++step) {
      const std::uint64_t a = random() % (kSize + 1);
      const std::uint64_t b = random() % (kSize + 1);
      const std::uint64_t begin = std::min(a, b);
      const std::uint64_t end = std::max(a, b);
      const Holder holder = random() % 4;
      if (random() % 2 == 0) {
        map.write(begin, end, holder, step, supersedes_even);
        for (std::uint64_t i = begin; i < end; ++i) model[i] = {holder};
      } else {
        map.add_copy(begin, end, holder, step);
        for (std::uint64_t i = begin; i < end; ++i)
          if (!model[i].empty()) model[i].insert(holder);
      }
      std::uint64_t last_end = 0;
      for (const auto& [key, piece] : map.pieces()) {
        ASSERT_EQ(key, piece.begin);
        ASSERT_LT(piece.begin, piece.end);
        ASSERT_LE(last_end, piece.begin) << "pieces are disjoint and in order";
        last_end = piece.end;
      }
    }
    for (std::uint64_t i = 0; i < kSize; ++i) {
      const auto holders = holders_at(map, i);
      EXPECT_EQ(model[i], std::set<Holder>(holders.begin(), holders.end()))
          << "seed " << seed << " byte " << i;
    }
  }
}

}  // namespace
}  // namespace clique::icd
