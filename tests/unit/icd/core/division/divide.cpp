#include "icd/core/division/divide.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "icd/core/division/balance.hpp"
#include "icd/core/division/check_footprint.hpp"

namespace clique::icd {

namespace {

using protocol::AtomicChange;
using protocol::Comparison;
using protocol::Footprint;
using Op = protocol::FootprintOp;

/// A footprint that is written by hand.
class DescribedKernel {
 public:
  std::uint32_t number(Op op, std::uint32_t a = 0, std::uint32_t b = 0, std::int64_t value = 0,
                       std::uint8_t bits = 64) {
    footprint.numbers.push_back({op, bits, a, b, value});
    return static_cast<std::uint32_t>(footprint.numbers.size() - 1);
  }
  std::uint32_t constant(std::int64_t value, std::uint8_t bits = 64) {
    return number(Op::Constant, 0, 0, value, bits);
  }
  std::uint32_t times(std::uint32_t a, std::int64_t by) { return number(Op::Multiply, a, constant(by)); }
  std::uint32_t plus(std::uint32_t a, std::int64_t by) { return number(Op::Add, a, constant(by)); }
  void reads(std::uint32_t argument, std::uint32_t offset, std::vector<std::uint32_t> conditions = {}) {
    footprint.accesses.push_back({argument, false, 4, offset, std::move(conditions), 7, {}});
  }
  void writes(std::uint32_t argument, std::uint32_t offset, std::vector<std::uint32_t> conditions = {}) {
    footprint.accesses.push_back({argument, true, 4, offset, std::move(conditions), 8, {}});
  }
  void changes(std::uint32_t argument, std::uint32_t offset, AtomicChange change = AtomicChange::Add,
               std::uint64_t size = 4) {
    footprint.accesses.push_back({argument, true, size, offset, {}, 6, {}, change});
  }
  std::uint32_t condition(Comparison comparison, std::uint32_t a, std::uint32_t b) {
    footprint.conditions.push_back({comparison, a, b});
    return static_cast<std::uint32_t>(footprint.conditions.size() - 1);
  }

  /// Two buffers, argument 0 and 1, of 4 bytes for each of 100 work-items.
  Division divide(std::size_t members = 2, bool one_object = false, const Borders& balanced = {}) {
    const int objects[2] = {};
    const std::vector<UsedBuffer> buffers{{0, &objects[0], 0, 400},
                                          {1, one_object ? &objects[0] : &objects[1], 0, 400}};
    EXPECT_EQ(flaw_of(footprint, 2), "");
    const std::vector<std::span<const std::byte>> scalars(2);
    return icd::divide({footprint, scalars, buffers, space, true}, members, balanced);
  }

  /// @param coordinates numbers of 32 bits
  void uses_pixel(std::uint32_t argument, bool writes, std::vector<std::uint32_t> coordinates) {
    footprint.accesses.push_back({argument, writes, 0, 0, {}, 9, std::move(coordinates)});
  }
  /// get_global_id(dimension) + distance, with 32 bits
  std::uint32_t coordinate(std::uint32_t dimension, std::int64_t distance = 0) {
    const auto id = number(Op::Truncate, number(Op::GlobalId, dimension), 0, 0, 32);
    return number(Op::Add, id, constant(distance, 32), 0, 32);
  }
  /// Two images, argument 0 and 1, of 10 x 8 pixels of 4 bytes.
  Division divide_images(bool one_object = false, std::array<std::uint64_t, 3> global = {10, 8, 1}) {
    const int objects[2] = {};
    const ImageLayout layout{2, 4, {10, 8, 1}, {4, 40, 320}};
    const std::vector<UsedBuffer> images{{0, &objects[0], 0, 320, layout},
                                         {1, one_object ? &objects[0] : &objects[1], 0, 320, layout}};
    EXPECT_EQ(flaw_of(footprint, 2), "");
    const std::vector<std::span<const std::byte>> scalars(2);
    return icd::divide({footprint, scalars, images, {2, {}, global, {1, 1, 1}}, true}, 2);
  }

  Footprint footprint;
  LaunchSpace space{1, {}, {100, 1, 1}, {10, 1, 1}};
};

std::vector<RangeSet::Range> division_ranges(const RangeSet& set) {
  return {set.ranges().begin(), set.ranges().end()};
}

using DivisionRanges = std::vector<RangeSet::Range>;

TEST(Divide, GivenOneElementPerItemThenEachPartHasItsOwn) {
  DescribedKernel kernel;
  const auto own = kernel.times(kernel.number(Op::GlobalId), 4);
  kernel.reads(0, own);
  kernel.writes(1, own);
  const Division division = kernel.divide(3);
  ASSERT_EQ(division.parts.size(), 3U) << division.reason;
  EXPECT_EQ(division_ranges(division.parts[0].writes[1]), (DivisionRanges{{0, 120}}));
  EXPECT_EQ(division_ranges(division.parts[1].reads[0]), (DivisionRanges{{120, 240}}));
  EXPECT_EQ(division_ranges(division.parts[2].writes[1]), (DivisionRanges{{240, 400}}));
  EXPECT_TRUE(division.parts[2].writes[0].empty());
}

TEST(Divide, GivenWritesThenTheirOldContentIsRead) {
  DescribedKernel kernel;
  kernel.writes(1, kernel.times(kernel.number(Op::GlobalId), 4));
  const Division division = kernel.divide();
  ASSERT_EQ(division.parts.size(), 2U);
  EXPECT_EQ(division.parts[0].reads[1], division.parts[0].writes[1]);
}

TEST(Divide, GivenNeighboursAreReadThenHalosOverlap) {
  DescribedKernel kernel;
  const auto own = kernel.number(Op::GlobalId);
  kernel.reads(0, kernel.times(kernel.plus(own, 1), 4));
  kernel.writes(1, kernel.times(own, 4));
  const Division division = kernel.divide();
  ASSERT_EQ(division.parts.size(), 2U);
  EXPECT_EQ(division_ranges(division.parts[0].reads[0]), (DivisionRanges{{4, 204}}));
}

TEST(Divide, GivenOneBufferTwiceThenReadsOfNeighboursPreventIt) {
  DescribedKernel kernel;
  const auto own = kernel.number(Op::GlobalId);
  kernel.reads(0, kernel.times(kernel.plus(own, 1), 4));
  kernel.writes(1, kernel.times(own, 4));
  const Division division = kernel.divide(2, /*one_object=*/true);
  EXPECT_TRUE(division.parts.empty());
  EXPECT_EQ(division.reason, "along dimension 0, parts may read what others write of argument 1 (line 8)");
}

TEST(Divide, GivenWriteToUnknownPlaceThenItIsWhole) {
  DescribedKernel kernel;
  kernel.writes(1, kernel.number(Op::Unknown));
  const Division division = kernel.divide();
  EXPECT_TRUE(division.parts.empty());
  EXPECT_EQ(division.reason,
            "along dimension 0, several parts may write the same bytes of argument 1 (line 8)");
}

TEST(Divide, GivenWriteToPlaceFromDataThenItSaysSo) {
  DescribedKernel kernel;
  const auto data = kernel.number(Op::Unknown, protocol::kFromData);
  kernel.writes(1, kernel.number(Op::Add, kernel.number(Op::GlobalId), kernel.times(data, 4)));
  const Division division = kernel.divide();
  EXPECT_TRUE(division.parts.empty());
  EXPECT_EQ(division.reason,
            "along dimension 0, the place of a write to argument 1 depends on data (line 8)");
}

TEST(Divide, GivenAtomicChangesWhoseResultsAreUnusedThenAllPartsButTheFirstChangeCopies) {
  DescribedKernel kernel;
  const auto own = kernel.times(kernel.number(Op::GlobalId), 4);
  kernel.reads(0, own);
  kernel.changes(1, kernel.number(Op::Unknown, protocol::kFromData), AtomicChange::LeastUnsigned);
  const Division division = kernel.divide(3);
  ASSERT_EQ(division.parts.size(), 3U) << division.reason;
  ASSERT_EQ(division.merged.size(), 1U);
  EXPECT_EQ(division.merged[0].buffer, 1U);
  EXPECT_EQ(division.merged[0].argument, 1U);
  EXPECT_EQ(division.merged[0].changes.at(0).change, AtomicChange::LeastUnsigned);
  EXPECT_EQ(division.merged[0].changes.at(0).width, 4U);
  EXPECT_EQ(division.merged[0].changes.at(0).begin, 0U);
  EXPECT_EQ(division.merged[0].changes.at(0).end, 400U);
  EXPECT_EQ(division.merged_bytes(), 800U);
  EXPECT_EQ(division_ranges(division.parts[0].writes[1]), (DivisionRanges{{0, 400}}));
  for (const std::size_t part : {1U, 2U}) {
    EXPECT_TRUE(division.parts[part].writes[1].empty());
    EXPECT_TRUE(division.parts[part].reads[1].empty());
    EXPECT_FALSE(division.parts[part].reads[0].empty());
  }
}

TEST(Divide, GivenAtomicChangesOfFewBytesThenOnlyTheseAreMerged) {
  DescribedKernel kernel;
  kernel.changes(1, kernel.constant(40));
  kernel.changes(1, kernel.constant(47));
  const Division division = kernel.divide();
  ASSERT_EQ(division.merged.size(), 1U) << division.reason;
  EXPECT_EQ(division.merged[0].changes.at(0).begin, 40U);
  EXPECT_EQ(division.merged[0].changes.at(0).end, 52U);
}

TEST(Divide, GivenAtomicChangesOfSeveralKindsThenTheirBytesAreApart) {
  DescribedKernel kernel;
  kernel.changes(1, kernel.constant(4), AtomicChange::LeastSigned);
  kernel.changes(1, kernel.constant(16), AtomicChange::GreatestSigned, 8);
  const Division division = kernel.divide();
  ASSERT_EQ(division.merged.size(), 1U) << division.reason;
  ASSERT_EQ(division.merged[0].changes.size(), 2U);
  EXPECT_EQ(division.merged[0].changes[0].end, 8U);
  EXPECT_EQ(division.merged[0].changes[1].change, AtomicChange::GreatestSigned);
  EXPECT_EQ(division.merged[0].changes[1].begin, 16U);
  EXPECT_EQ(division.merged[0].end(), 24U);
  EXPECT_EQ(division.merged_bytes(), 12U);
  kernel.changes(1, kernel.constant(20), AtomicChange::Add);
  EXPECT_TRUE(kernel.divide().parts.empty());
}

TEST(Divide, GivenAtomicChangesOfEachPartsOwnBytesThenNothingIsMerged) {
  DescribedKernel kernel;
  kernel.changes(1, kernel.times(kernel.number(Op::GlobalId), 4));
  const Division division = kernel.divide();
  ASSERT_EQ(division.parts.size(), 2U) << division.reason;
  EXPECT_TRUE(division.merged.empty());
  EXPECT_EQ(division_ranges(division.parts[1].writes[1]), (DivisionRanges{{200, 400}}));
}

TEST(Divide, GivenADimensionThatNeedsNoMergeThenItIsTaken) {
  DescribedKernel kernel;
  kernel.space = {2, {}, {100, 100, 1}, {10, 10, 1}};
  kernel.changes(1, kernel.times(kernel.number(Op::GlobalId, 0), 4));
  const Division division = kernel.divide();
  ASSERT_EQ(division.parts.size(), 2U) << division.reason;
  EXPECT_EQ(division.dimension, 0U);
  EXPECT_TRUE(division.merged.empty());
}

TEST(Divide, GivenOtherAccessesToWhatIsChangedAtomicallyThenItIsWhole) {
  const auto reason_with = [](auto&& add) {
    DescribedKernel kernel;
    const auto data = kernel.number(Op::Unknown, protocol::kFromData);
    kernel.changes(1, data);
    add(kernel, data);
    const Division division = kernel.divide();
    EXPECT_TRUE(division.parts.empty());
    return division.reason;
  };
  const std::string other =
      "along dimension 0, atomic operations on argument 1 (line 6) cannot be merged, because there are "
      "accesses of other kinds to it";
  EXPECT_EQ(reason_with([](auto& kernel, auto data) { kernel.reads(1, data); }), other);
  EXPECT_EQ(reason_with([](auto& kernel, auto data) { kernel.writes(1, data); }), other);
  EXPECT_EQ(reason_with([](auto& kernel, auto data) { kernel.changes(1, data, AtomicChange::Or); }), other);
  EXPECT_EQ(reason_with([](auto& kernel, auto data) { kernel.changes(1, data, AtomicChange::Add, 8); }),
            other);
}

TEST(Divide, GivenAnotherArgumentWithTheSameBytesThenItIsWhole) {
  DescribedKernel kernel;
  kernel.changes(1, kernel.number(Op::Unknown, protocol::kFromData));
  EXPECT_EQ(kernel.divide().parts.size(), 2U);
  const Division division = kernel.divide(2, /*one_object=*/true);
  EXPECT_TRUE(division.parts.empty());
  EXPECT_EQ(division.reason,
            "along dimension 0, atomic operations on argument 1 (line 6) cannot be merged, because another "
            "argument has the same bytes");
}

TEST(Divide, GivenBuffersOfManyBytesThenTheyAreNotMerged) {
  DescribedKernel kernel;
  kernel.changes(0, kernel.number(Op::Unknown, protocol::kFromData));
  const int object = 0;
  const auto divide_with = [&](std::uint64_t size) {
    const std::vector<UsedBuffer> buffers{{0, &object, 0, size}};
    const std::vector<std::span<const std::byte>> scalars(1);
    return icd::divide({kernel.footprint, scalars, buffers, kernel.space, true}, 3);
  };
  EXPECT_EQ(divide_with(std::uint64_t{128} << 20U).merged_bytes(), std::uint64_t{256} << 20U);
  EXPECT_EQ(
      divide_with((std::uint64_t{128} << 20U) + 4).reason,
      "along dimension 0, copies of more than 256 MiB would be merged after atomic operations (line 6)");
}

TEST(Divide, GivenBitwiseOperationsThenTheyAreSumsOrHaveLimits) {
  // What the first of two parts reads, whose ids are 0 to 49.
  const auto reads = [](auto&& offset) {
    DescribedKernel kernel;
    kernel.writes(1, kernel.times(kernel.number(Op::GlobalId), 4));
    kernel.reads(0, offset(kernel));
    const Division division = kernel.divide();
    return division.parts.empty() ? DivisionRanges{} : division_ranges(division.parts[0].reads[0]);
  };
  using K = DescribedKernel&;
  const auto id = [](K k) { return k.number(Op::GlobalId); };
  const auto twice = [&](K k) { return k.number(Op::ShiftLeft, id(k), k.constant(1)); };
  EXPECT_EQ(reads([&](K k) { return k.number(Op::Or, twice(k), k.constant(1)); }),
            (DivisionRanges{{1, 103}}));
  EXPECT_EQ(reads([&](K k) { return k.number(Op::ExclusiveOr, k.constant(1), twice(k)); }),
            (DivisionRanges{{1, 103}}));
  EXPECT_EQ(reads([&](K k) { return k.number(Op::Or, id(k), k.constant(1)); }), (DivisionRanges{{1, 67}}));
  EXPECT_EQ(reads([&](K k) { return k.number(Op::ExclusiveOr, id(k), k.constant(1)); }),
            (DivisionRanges{{0, 67}}));
  EXPECT_EQ(reads([&](K k) { return k.plus(k.number(Op::ExclusiveOr, id(k), k.constant(-1)), 100); }),
            (DivisionRanges{{50, 103}}));
  EXPECT_EQ(reads([&](K k) { return k.number(Op::ShiftRightSigned, id(k), k.constant(1)); }),
            (DivisionRanges{{0, 28}}));
  EXPECT_EQ(reads([&](K k) { return k.number(Op::ShiftRightUnsigned, id(k), k.constant(64)); }),
            (DivisionRanges{{0, 400}}));
  EXPECT_EQ(reads([&](K k) { return k.number(Op::ShiftLeft, k.constant(1), id(k)); }),
            (DivisionRanges{{0, 400}}));
}

TEST(DivideImages, GivenPixelsByIdsThenPartsHaveRows) {
  DescribedKernel kernel;
  kernel.uses_pixel(1, true, {kernel.coordinate(0), kernel.coordinate(1)});
  kernel.uses_pixel(0, false, {kernel.coordinate(0), kernel.coordinate(1, 1)});
  const Division division = kernel.divide_images();
  ASSERT_EQ(division.parts.size(), 2U) << division.reason;
  EXPECT_EQ(division.dimension, 1U);
  EXPECT_EQ(division_ranges(division.parts[0].writes[1]), (DivisionRanges{{0, 160}}));
  EXPECT_EQ(division_ranges(division.parts[1].writes[1]), (DivisionRanges{{160, 320}}));
  EXPECT_EQ(division.parts[1].reads[1], division.parts[1].writes[1]);
  // What is read beyond the edge is read at the edge.
  EXPECT_EQ(division_ranges(division.parts[0].reads[0]), (DivisionRanges{{40, 200}}));
  EXPECT_EQ(division_ranges(division.parts[1].reads[0]), (DivisionRanges{{200, 320}}));
}

TEST(DivideImages, GivenOneImageThenReadsOfNeighboursPreventIt) {
  DescribedKernel kernel;
  kernel.uses_pixel(1, true, {kernel.coordinate(0), kernel.coordinate(1)});
  kernel.uses_pixel(0, false, {kernel.coordinate(0), kernel.coordinate(1, 1)});
  EXPECT_EQ(kernel.divide_images().parts.size(), 2U);
  // Along rows, the same pixels are written that are read by other parts.
  EXPECT_EQ(kernel.divide_images(/*one_object=*/true).dimension, 0U);
  kernel.uses_pixel(0, false, {kernel.coordinate(0, 1), kernel.coordinate(1)});
  const Division division = kernel.divide_images(/*one_object=*/true);
  EXPECT_TRUE(division.parts.empty());
  EXPECT_EQ(division.reason,
            "along dimensions 1 and 0, parts may read what others write of argument 1 (line 9)");
}

TEST(DivideImages, GivenColumnsThenPartsHaveAPieceOfEachRow) {
  DescribedKernel kernel;
  kernel.uses_pixel(1, true, {kernel.coordinate(1), kernel.coordinate(0)});
  const Division division = kernel.divide_images(/*one_object=*/false, {8, 10, 1});
  ASSERT_EQ(division.parts.size(), 2U) << division.reason;
  ASSERT_EQ(division.parts[0].writes[1].ranges().size(), 8U);
  EXPECT_EQ(division_ranges(division.parts[1].writes[1])[1].begin, 60U);
  EXPECT_EQ(division_ranges(division.parts[1].writes[1])[1].end, 80U);
}

TEST(DivideImages, GivenPixelsOutsideThenTheyCountAsThoseAtTheEdge) {
  DescribedKernel kernel;
  kernel.uses_pixel(1, true, {kernel.coordinate(0, -5), kernel.coordinate(1, -1)});
  const Division division = kernel.divide_images();
  ASSERT_EQ(division.parts.size(), 2U) << division.reason;
  EXPECT_EQ(division_ranges(division.parts[0].writes[1])[0].begin, 0U);
  // All rows of the second part are outside.
  EXPECT_TRUE(kernel.divide_images(/*one_object=*/false, {10, 40, 1}).parts.empty());
}

TEST(DivideImages, GivenUnknownOrMissingCoordinatesThenItIsAnyPixel) {
  DescribedKernel kernel;
  kernel.uses_pixel(1, true,
                    {kernel.number(Op::Unknown, protocol::kFromData, 0, 0, 32), kernel.coordinate(1)});
  // The rows are those of the part.
  EXPECT_EQ(kernel.divide_images().parts.size(), 2U);
  EXPECT_EQ(kernel.divide_images(false, {10, 1, 1}).reason,
            "along dimension 0, the place of a write to argument 1 depends on data (line 9)");
  DescribedKernel other;
  other.uses_pixel(1, true, {other.coordinate(1)});
  EXPECT_EQ(other.divide_images().reason,
            "along dimensions 1 and 0, several parts may write the same bytes of argument 1 (line 9)");
}

TEST(DivideImages, GivenImageForABufferOrTheReverseThenAllIsUsed) {
  DescribedKernel kernel;
  kernel.writes(1, kernel.times(kernel.number(Op::GlobalId), 4));
  EXPECT_TRUE(kernel.divide_images().parts.empty());
  DescribedKernel other;
  other.uses_pixel(1, true, {other.coordinate(0)});
  EXPECT_TRUE(other.divide().parts.empty());
}

TEST(Divide, GivenReadFromUnknownPlaceThenAllIsRead) {
  DescribedKernel kernel;
  kernel.reads(0, kernel.number(Op::Unknown));
  kernel.writes(1, kernel.times(kernel.number(Op::GlobalId), 4));
  const Division division = kernel.divide();
  ASSERT_EQ(division.parts.size(), 2U);
  EXPECT_EQ(division_ranges(division.parts[1].reads[0]), (DivisionRanges{{0, 400}}));
}

TEST(Divide, GivenObstacleOrWholeDimensionThenItSaysWhere) {
  DescribedKernel kernel;
  kernel.writes(1, kernel.times(kernel.number(Op::GlobalId), 4));
  kernel.footprint.whole_dimensions = 1;
  kernel.footprint.whole_line = 3;
  EXPECT_EQ(kernel.divide().reason,
            "along dimension 0, the kernel asks for ids or sizes of the whole range (line 3)");
  kernel.footprint.obstacle = "printf";
  kernel.footprint.line = 4;
  EXPECT_EQ(kernel.divide().reason, "printf (line 4)");
}

TEST(Divide, GivenOneMemberThenTheOnlyPartSaysWhatTheLaunchUses) {
  DescribedKernel kernel;
  const auto at = kernel.times(kernel.number(Op::GlobalId), 4);
  kernel.reads(0, at);
  kernel.writes(1, kernel.constant(8));
  kernel.footprint.whole_dimensions = 1;
  const Division division = kernel.divide(1);
  ASSERT_EQ(division.parts.size(), 1U) << division.reason;
  EXPECT_EQ(division_ranges(division.parts[0].reads[0]), (DivisionRanges{{0, 400}}));
  EXPECT_EQ(division_ranges(division.parts[0].writes[1]), (DivisionRanges{{8, 12}}));
}

TEST(Divide, GivenGroupIdsThenOnlyLaunchesWithoutAnOffsetAreDivided) {
  DescribedKernel kernel;
  kernel.writes(1, kernel.times(kernel.number(Op::GlobalId), 4));
  kernel.footprint.group_id_dimensions = 1;
  EXPECT_EQ(kernel.divide().parts.size(), 2U);
  kernel.space.offset[0] = 10;
  EXPECT_EQ(kernel.divide().reason,
            "the kernel asks for the ids of work-groups, and the launch has a global offset");
  kernel.footprint.group_id_dimensions = 2;
  EXPECT_EQ(kernel.divide().parts.size(), 2U) << "which the range does not have";
}

TEST(Divide, GivenConditionThenOnlyItemsThatMeetItCount) {
  DescribedKernel kernel;
  const auto own = kernel.number(Op::GlobalId);
  const auto few = kernel.condition(Comparison::LessUnsigned, own, kernel.constant(60));
  kernel.writes(1, kernel.times(own, 4), {few});
  const Division division = kernel.divide();
  ASSERT_EQ(division.parts.size(), 2U);
  EXPECT_EQ(division_ranges(division.parts[1].writes[1]), (DivisionRanges{{200, 240}}));
}

TEST(Divide, GivenLoopThenItsIterationsCount) {
  DescribedKernel kernel;
  const auto own = kernel.number(Op::GlobalId);
  const auto start = kernel.constant(0, 32);
  const auto step = kernel.constant(1, 32);
  const auto bound = kernel.constant(3, 32);
  kernel.footprint.loops.push_back({true, start, step, bound, Comparison::LessSigned, false, false, true});
  const auto counter = kernel.number(Op::Counter, 0, 0, 0, 32);
  const auto index = kernel.number(Op::SignExtend, counter);
  const auto inside = kernel.condition(Comparison::LessSigned, counter, bound);
  // 4 × (3 × id + counter), of the first 33 work-items.
  const auto few = kernel.condition(Comparison::LessUnsigned, own, kernel.constant(33));
  const auto element = kernel.number(Op::Add, kernel.times(own, 3), index);
  kernel.writes(1, kernel.times(element, 4), {inside, few});
  const Division division = kernel.divide();
  ASSERT_EQ(division.parts.size(), 2U) << division.reason;
  EXPECT_EQ(division_ranges(division.parts[0].writes[1]), (DivisionRanges{{0, 396}}));
  EXPECT_TRUE(division.parts[1].writes[1].empty());
}

TEST(Divide, GivenNumbersCountedUpToAnUnsignedOneThenTheyAreBelowIt) {
  const auto divided = [](std::int64_t count) {
    DescribedKernel kernel;
    const auto group = kernel.number(Op::GroupId);
    const auto start = kernel.constant(0);
    const auto step = kernel.constant(1);
    const auto bound = kernel.constant(count);
    kernel.footprint.loops.push_back(
        {true, start, step, bound, Comparison::LessUnsigned, false, true, false});
    // 4 × (10 × group id + counter)
    kernel.writes(
        1, kernel.times(kernel.number(Op::Add, kernel.times(group, 10), kernel.number(Op::Counter)), 4));
    return kernel.divide();
  };
  EXPECT_EQ(division_ranges(divided(10).parts.at(0).writes[1]), (DivisionRanges{{0, 200}}));
  EXPECT_EQ(division_ranges(divided(1).parts.at(1).writes[1]),
            (DivisionRanges{{200, 204}, {240, 244}, {280, 284}, {320, 324}, {360, 364}}));
  EXPECT_TRUE(divided(11).parts.empty());
  EXPECT_TRUE(divided(-1).parts.empty());
}

TEST(Divide, GivenIdOf32BitsThatOverflowsThenItIsNotKnown) {
  DescribedKernel kernel;
  kernel.space.offset[0] = (std::uint64_t{1} << 31U) - 30;
  const auto id = kernel.number(Op::Truncate, kernel.number(Op::GlobalId), 0, 0, 32);
  const auto index = kernel.number(Op::SignExtend, id);
  kernel.writes(1, kernel.number(Op::And, kernel.times(index, 4), kernel.constant(511)));
  EXPECT_TRUE(kernel.divide().parts.empty());
}

TEST(Footprint, GivenNumberThatRefersToLaterOneThenItIsRefused) {
  DescribedKernel kernel;
  kernel.number(Op::Add, 0, 1);
  kernel.constant(1);
  EXPECT_NE(flaw_of(kernel.footprint, 2), "");
}

TEST(Footprint, GivenValuesOutOfRangeThenTheyAreRefused) {
  DescribedKernel kernel;
  kernel.constant(1);
  kernel.footprint.accesses.push_back({2, true, 4, 0, {}, 0, {}});
  EXPECT_NE(flaw_of(kernel.footprint, 2), "");
  kernel.footprint.accesses = {{0, true, 4, 9, {}, 0, {}}};
  EXPECT_NE(flaw_of(kernel.footprint, 2), "");
  kernel.footprint.accesses = {{0, true, 4, 0, {0}, 0, {}}};
  EXPECT_NE(flaw_of(kernel.footprint, 2), "");
  kernel.footprint.accesses = {{0, true, 0, 0, {}, 0, {0}}};
  EXPECT_NE(flaw_of(kernel.footprint, 2), "") << "a coordinate of 64 bits";
  const auto coordinate = kernel.constant(1, 32);
  kernel.footprint.accesses = {{0, true, 0, 0, {}, 0, {coordinate, coordinate, coordinate}}};
  EXPECT_EQ(flaw_of(kernel.footprint, 2), "");
  kernel.footprint.accesses = {{0, true, 0, 0, {}, 0, {coordinate, coordinate, coordinate, coordinate}}};
  EXPECT_NE(flaw_of(kernel.footprint, 2), "");
  kernel.footprint.accesses = {{0, true, 0, 0, {}, 0, {coordinate + 1}}};
  EXPECT_NE(flaw_of(kernel.footprint, 2), "");
  kernel.footprint.accesses = {{0, true, 4, 0, {}, 0, {}, AtomicChange::GreatestUnsigned}};
  EXPECT_EQ(flaw_of(kernel.footprint, 2), "");
  for (const protocol::FootprintAccess& access :
       {protocol::FootprintAccess{0, true, 2, 0, {}, 0, {}, AtomicChange::Add},
        protocol::FootprintAccess{0, false, 4, 0, {}, 0, {}, AtomicChange::Add},
        protocol::FootprintAccess{0, true, 0, 0, {}, 0, {coordinate}, AtomicChange::Add},
        protocol::FootprintAccess{0, true, 4, 0, {}, 0, {}, AtomicChange{9}}}) {
    kernel.footprint.accesses = {access};
    EXPECT_NE(flaw_of(kernel.footprint, 2), "");
  }
  kernel.footprint.accesses.clear();
  kernel.number(Op::GlobalId, 3);
  EXPECT_NE(flaw_of(kernel.footprint, 2), "");
  kernel.footprint.numbers.back() = {Op::Constant, 65, 0, 0, 0};
  EXPECT_NE(flaw_of(kernel.footprint, 2), "");
  kernel.footprint.numbers.back() = {Op::Counter, 32, 0, 0, 0};
  EXPECT_NE(flaw_of(kernel.footprint, 2), "");
}

TEST(Footprint, GivenTooManyAccessesThenItIsRefused) {
  DescribedKernel kernel;
  kernel.footprint.accesses.resize(protocol::kMostFootprintAccesses + 1,
                                   {0, false, 4, kernel.constant(0), {}, 0, {}});
  EXPECT_EQ(flaw_of(kernel.footprint, 2), "it is too large");
  kernel.footprint.accesses.resize(protocol::kMostFootprintAccesses);
  EXPECT_EQ(flaw_of(kernel.footprint, 2), "");
}

TEST(Divide, GivenBordersThenPartsHaveThem) {
  DescribedKernel kernel;
  const auto id = kernel.number(Op::GlobalId);
  kernel.writes(0, kernel.times(id, 4));
  EXPECT_EQ(kernel.divide(2, false, {0, 3, 10}).borders(), (Borders{0, 3, 10}));
  EXPECT_EQ(kernel.divide(2, false, {0, 3, 9}).borders(), (Borders{0, 5, 10})) << "of another launch";
}

TEST(Divide, GivenBordersThatLeaveNoRoomOfAMemberThenPartsHaveTheSameSize) {
  DescribedKernel kernel;
  kernel.writes(0, kernel.times(kernel.number(Op::GlobalId), 4));
  const int object = 0;
  const auto borders_with = [&](std::uint64_t room, bool sparse) {
    const std::vector<UsedBuffer> buffers{{0, &object, 0, 400, {}, sparse}};
    const std::vector<std::span<const std::byte>> scalars(1);
    return icd::divide({kernel.footprint, scalars, buffers, kernel.space, true, room}, 2, {0, 3, 10})
        .borders();
  };
  EXPECT_EQ(borders_with(280, true), (Borders{0, 3, 10})) << "7 work-groups of 10 work-items, 4 bytes each";
  EXPECT_EQ(borders_with(279, true), (Borders{0, 5, 10}));
  EXPECT_EQ(borders_with(279, false), (Borders{0, 3, 10})) << "each member has all of the buffer";
}

}  // namespace

}  // namespace clique::icd
