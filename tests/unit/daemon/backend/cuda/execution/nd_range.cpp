#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "daemon/backend/cuda/execution/nd_range.hpp"

namespace clique::daemon::cuda {
namespace {

NdRange range(std::array<std::uint64_t, 3> global, std::array<std::uint64_t, 3> local,
              std::array<std::uint64_t, 3> offset = {}) {
  NdRange result;
  result.dimensions = 3;
  result.global = global;
  result.local = local;
  result.offset = offset;
  return result;
}

/// All work-items of a grid, with their global and group ids.
template <typename Visit>
void visit_items(const Grid& grid, Visit&& visit) {
  std::array<std::uint64_t, 3> id{};
  std::array<std::uint64_t, 3> group{};
  const auto along = [&](auto&& self, std::size_t dimension) -> void {
    if (dimension == 3) {
      visit(id, group);
      return;
    }
    for (std::uint32_t g = 0; g < grid.groups[dimension]; ++g)
      for (std::uint32_t item = 0; item < grid.items[dimension]; ++item) {
        id[dimension] = grid.first_item[dimension] + std::uint64_t{g} * grid.items[dimension] + item;
        group[dimension] = grid.first_group[dimension] + g;
        self(self, dimension + 1);
      }
  };
  along(along, 0);
}

TEST(NdRange, GivenUniformRangeThenOneGrid) {
  const auto grids = split(range({1024, 6, 4}, {256, 2, 1}, {5, 0, 7}), {});
  ASSERT_EQ(grids.size(), 1U);
  EXPECT_EQ(grids[0].groups, (std::array<std::uint32_t, 3>{4, 3, 4}));
  EXPECT_EQ(grids[0].items, (std::array<std::uint32_t, 3>{256, 2, 1}));
  EXPECT_EQ(grids[0].first_item, (std::array<std::uint64_t, 3>{5, 0, 7}));
}

TEST(NdRange, GivenPartialGroupsThenEveryItemOnceAndInItsGroup) {
  const NdRange whole = range({10, 7, 5}, {4, 3, 2}, {100, 200, 300});
  const auto grids = split(whole, {});
  EXPECT_EQ(grids.size(), 8U);
  std::set<std::array<std::uint64_t, 3>> seen;
  for (const Grid& grid : grids)
    visit_items(grid, [&](const auto& id, const auto& group) {
      EXPECT_TRUE(seen.insert(id).second);
      for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_GE(id[i], whole.offset[i]);
        EXPECT_LT(id[i], whole.offset[i] + whole.global[i]);
        EXPECT_EQ(group[i], (id[i] - whole.offset[i]) / whole.local[i]);
      }
    });
  EXPECT_EQ(seen.size(), 10U * 7 * 5);
  EXPECT_EQ(whole.groups(0), 3U);
}

TEST(NdRange, GivenAPartThenItsItemsHaveTheIdsOfTheWholeRange) {
  GridLimits limits;
  limits.groups = {2, 2, 2};
  const NdRange whole = range({22, 7, 5}, {4, 3, 2}, {100, 200, 300});
  for (std::uint8_t dimension = 0; dimension < 3; ++dimension) {
    std::set<std::array<std::uint64_t, 3>> seen;
    const std::uint64_t size = whole.global[dimension];
    const std::uint64_t middle = whole.local[dimension];
    for (const auto& [begin, end] : {std::pair{std::uint64_t{0}, middle}, std::pair{middle, size}}) {
      NdRange part = whole;
      part.part = {dimension, begin, end};
      EXPECT_EQ(part.groups(dimension), whole.groups(dimension));
      const auto grids = split(part, limits);
      EXPECT_EQ(count_grids(part, limits), grids.size());
      for (const Grid& grid : grids)
        visit_items(grid, [&, begin = begin, end = end](const auto& id, const auto& group) {
          EXPECT_TRUE(seen.insert(id).second);
          EXPECT_GE(id[dimension], whole.offset[dimension] + begin);
          EXPECT_LT(id[dimension], whole.offset[dimension] + end);
          for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(group[i], (id[i] - whole.offset[i]) / whole.local[i]);
        });
    }
    EXPECT_EQ(seen.size(), 22U * 7 * 5);
  }
}

TEST(NdRange, GivenAPartOfWholeGroupsThenItIsUniform) {
  NdRange part = range({22, 1, 1}, {4, 1, 1});
  EXPECT_FALSE(part.uniform());
  part.part = {0, 8, 20};
  EXPECT_TRUE(part.uniform());
  part.part = {0, 8, 22};
  EXPECT_FALSE(part.uniform());
}

TEST(NdRange, GivenRangeSmallerThanGroupThenOnePartialGroup) {
  const auto grids = split(range({3, 1, 1}, {64, 1, 1}), {});
  ASSERT_EQ(grids.size(), 1U);
  EXPECT_EQ(grids[0].items[0], 3U);
  EXPECT_EQ(grids[0].first_group[0], 0U);
}

TEST(NdRange, GivenMoreGroupsThanAGridHasThenSeveralGrids) {
  GridLimits limits;
  limits.groups = {4, 2, 2};
  const NdRange whole = range({18, 5, 1}, {2, 1, 1});
  std::set<std::array<std::uint64_t, 3>> seen;
  for (const Grid& grid : split(whole, limits)) {
    for (std::size_t i = 0; i < 3; ++i) EXPECT_LE(grid.groups[i], limits.groups[i]);
    visit_items(grid, [&](const auto& id, const auto& /*group*/) { EXPECT_TRUE(seen.insert(id).second); });
  }
  EXPECT_EQ(seen.size(), 18U * 5);
}

TEST(NdRange, GivenAnyRangeThenTheGridsAreCounted) {
  GridLimits limits;
  limits.groups = {4, 2, 2};
  for (const std::uint64_t x : {1, 7, 8, 18})
    for (const std::uint64_t z : {1, 4, 5}) {
      const NdRange whole = range({x, 5, z}, {2, 1, 1});
      EXPECT_EQ(count_grids(whole, limits), split(whole, limits).size()) << x << ' ' << z;
    }
  // Far more than there is memory for.
  EXPECT_EQ(count_grids(range({1ULL << 32U, 1ULL << 28U, 1ULL << 28U}, {1, 1, 1}), {}), 3ULL * 4097 * 4097);
  EXPECT_EQ(count_grids(range({~0ULL, ~0ULL, ~0ULL}, {1, 1, 1}), {}), ~0ULL);
}

std::uint64_t items(const std::array<std::uint64_t, 3>& local) {
  return local[0] * local[1] * local[2];
}

TEST(LocalSize, GivenUniformKernelsThenItDividesTheRange) {
  for (const std::uint64_t x : {1U, 7U, 31U, 32U, 100U, 1000U, 1023U, 1024U, 4099U, 1U << 20U})
    for (const std::uint64_t y : {1U, 3U, 64U, 1080U})
      for (const std::uint64_t z : {1U, 5U, 128U})
        for (const std::uint32_t most : {1U, 32U, 100U, 1024U}) {
          const NdRange whole = range({x, y, z}, {1, 1, 1});
          const auto local = choose_local_size(whole, most, true, {});
          EXPECT_LE(items(local), most);
          for (std::size_t i = 0; i < 3; ++i) {
            EXPECT_EQ(whole.global[i] % local[i], 0U);
            EXPECT_LE(local[i], GridLimits{}.items[i]);
          }
        }
}

TEST(LocalSize, GivenAPartThenItDividesThePart) {
  NdRange part = range({1000, 64, 1}, {1, 1, 1});
  part.part = {0, 64, 1000};
  EXPECT_EQ(936U % choose_local_size(part, 1024, true, {})[0], 0U);
}

TEST(LocalSize, GivenCommonRangesThenGroupsAreLarge) {
  const auto choose = [](std::array<std::uint64_t, 3> global, bool uniform) {
    return choose_local_size(range(global, {1, 1, 1}), 1024, uniform, {});
  };
  EXPECT_EQ(choose({1U << 20U, 1, 1}, true), (std::array<std::uint64_t, 3>{256, 1, 1}));
  EXPECT_EQ(choose({1920, 1080, 1}, true), (std::array<std::uint64_t, 3>{32, 8, 1}));
  EXPECT_EQ(items(choose({64, 64, 64}, true)), 256U);
  // For a prime, one partial group is better than groups of one work-item.
  EXPECT_EQ(choose({1'000'003, 1, 1}, false), (std::array<std::uint64_t, 3>{256, 1, 1}));
  EXPECT_EQ(choose({1'000'003, 1, 1}, true), (std::array<std::uint64_t, 3>{1, 1, 1}));
  EXPECT_EQ(choose({5, 1, 1}, false), (std::array<std::uint64_t, 3>{5, 1, 1}));
}

}  // namespace
}  // namespace clique::daemon::cuda
