#include "icd/core/recordings/sections.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace clique::icd {
namespace {

using Places = std::vector<std::size_t>;

TEST(Sections, GivenOneQueueThenThereIsOneSection) {
  Sections sections(1);
  EXPECT_EQ(0U, sections.add(0, {}));
  EXPECT_EQ(0U, sections.add(0, {0}));
  EXPECT_EQ(0U, sections.add(0, {}));
  EXPECT_EQ(0U, sections.add(0, {0, 2}));
  ASSERT_EQ(1U, sections.all().size());
  EXPECT_EQ((Sections::Commands{0, 1, 2, 3}), sections.all().front().commands);
  EXPECT_TRUE(sections.all().front().after.empty());
  EXPECT_EQ((Sections::Commands{0, 2}), sections.within_section(3, {0, 2}));
}

TEST(Sections, GivenIndependentQueuesThenEachHasOneSection) {
  Sections sections(2);
  for (std::size_t command = 0; command < 6; ++command)
    EXPECT_EQ(command % 2, sections.add(command % 2, command < 2 ? Sections::Commands{}
                                                                 : Sections::Commands{command - 2}));
  ASSERT_EQ(2U, sections.all().size());
  EXPECT_EQ((Sections::Commands{1, 3, 5}), sections.all()[1].commands);
  EXPECT_EQ(2U, sections.number_in_section(5));
  EXPECT_TRUE(sections.all()[1].after.empty());
}

TEST(Sections, GivenWaitForAnotherQueueThenANewSectionBegins) {
  Sections sections(2);
  sections.add(0, {});
  sections.add(1, {});
  EXPECT_EQ(2U, sections.add(1, {0, 1}));
  EXPECT_EQ((Places{0, 1}), sections.all()[2].after);
  EXPECT_TRUE(sections.within_section(2, {0, 1}).empty());
  // What another queue waits for takes no more commands.
  EXPECT_EQ(3U, sections.add(0, {0}));
  EXPECT_EQ((Places{0}), sections.all()[3].after);
  // A wait for a section that it waits for already begins none.
  EXPECT_EQ(2U, sections.add(1, {0, 2}));
  EXPECT_EQ((Places{0, 1}), sections.all()[2].after);
  EXPECT_EQ((Sections::Commands{0}), sections.within_section(4, {0, 2}));
}

TEST(Sections, GivenQueueWithoutOrderThenItsSectionsMayBeIndependent) {
  Sections sections(2);
  sections.add(0, {});
  sections.add(1, {});
  EXPECT_EQ(2U, sections.add(1, {0}));
  EXPECT_EQ((Places{0}), sections.all()[2].after);
  // A wait for an earlier section of the same queue, which has ended its own waits before.
  EXPECT_EQ(2U, sections.add(1, {1}));
  EXPECT_EQ((Places{0, 1}), sections.all()[2].after);
}

TEST(Sections, GivenAnyOrderThenSectionsFollowEarlierOnesOnly) {
  Sections sections(3);
  std::uint64_t random = 1;
  const auto next = [&](std::uint64_t below) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    return (random >> 33U) % below;
  };
  std::vector<Sections::Commands> all;
  for (std::uint64_t command = 0; command < 500; ++command) {
    Sections::Commands before;
    for (std::uint64_t earlier = command < 5 ? 0 : command - 5; earlier < command; ++earlier)
      if (next(4) == 0) before.push_back(earlier);
    sections.add(next(3), before);
    all.push_back(before);
  }
  for (std::size_t i = 0; i < sections.all().size(); ++i)
    for (const std::size_t earlier : sections.all()[i].after) EXPECT_LT(earlier, i);
  // Every wait is one for an earlier section, or for an earlier command of the same one.
  for (std::uint64_t command = 0; command < 500; ++command)
    for (const std::uint64_t earlier : all[command]) {
      const std::size_t mine = sections.section_of(command);
      const std::size_t other = sections.section_of(earlier);
      const auto& after = sections.all()[mine].after;
      EXPECT_TRUE(mine == other ? sections.number_in_section(earlier) < sections.number_in_section(command)
                                : std::find(after.begin(), after.end(), other) != after.end());
    }
}

}  // namespace
}  // namespace clique::icd
