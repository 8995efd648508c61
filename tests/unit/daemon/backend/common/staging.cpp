// Staging, where its blocks come back only once somebody asks for them.
#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "daemon/backend/common/staging.hpp"

namespace clique::daemon {
namespace {

constexpr std::size_t kBlock = 4096;

/// Blocks on their way, which stay there until their receiver is heard.
struct Under {
  std::deque<std::shared_ptr<std::byte>> way;
  std::deque<std::vector<std::byte>> made;

  Staging staging{{[this](std::size_t size) { return made.emplace_back(size).data(); },
                   [](std::byte* /*block*/) {}, 2 * kBlock,
                   [this] {
                     if (!way.empty()) way.pop_front();
                   }}};
};

TEST(Staging, GivenBlocksThatComeBackWhenHeardThenTheLimitHolds) {
  Under under;
  for (int i = 0; i < 100; ++i) under.way.push_back(under.staging.take(kBlock));
  EXPECT_EQ(2U, under.made.size());
  EXPECT_EQ(2U, under.way.size());
  under.way.clear();
}

TEST(Staging, GivenBlocksThatDoNotComeBackThenGoesOnBeyondTheLimit) {
  Under under;
  const auto one = under.staging.take(kBlock);
  const auto two = under.staging.take(kBlock);
  EXPECT_NE(nullptr, under.staging.take(kBlock));
  EXPECT_EQ(3U, under.made.size());
}

TEST(Staging, GivenManyBlocksOfOneSizeThenThoseOfAnotherAreKeptAllTheSame) {
  constexpr std::size_t kMany = 400;
  constexpr std::size_t kSmall = 512U << 10U;
  std::deque<std::unique_ptr<std::byte[]>> made;
  std::size_t destroyed = 0;
  Staging staging{{[&made](std::size_t size) {
                     return made.emplace_back(std::make_unique_for_overwrite<std::byte[]>(size)).get();
                   },
                   [&destroyed](std::byte* /*block*/) { ++destroyed; }}};
  const auto use = [&staging](std::size_t count, std::size_t size) {
    std::vector<std::shared_ptr<std::byte>> blocks;
    for (std::size_t i = 0; i < count; ++i) blocks.push_back(staging.take(size));
  };
  use(kMany, kSmall);
  EXPECT_EQ(made.size(), kMany);
  EXPECT_GT(destroyed, 0U) << "what is kept has a bound";
  for (int i = 0; i < 100; ++i) use(4, 2 * kSmall);
  EXPECT_EQ(made.size(), kMany + 4);
  // The first ones have made way, as far as they had to.
  use(kMany - destroyed, kSmall);
  EXPECT_EQ(made.size(), kMany + 4);
  use(kMany, kSmall);
  EXPECT_LE((made.size() - destroyed) * kSmall, std::size_t{130} << 20U);
}

TEST(Staging, GivenUncountedBlocksThenTheyNeitherWaitNorKeepOthersWaiting) {
  Under under;
  std::deque<std::shared_ptr<std::byte>> chunks;
  for (int i = 0; i < 5; ++i) chunks.push_back(under.staging.take_uncounted(kBlock));
  under.way.push_back(under.staging.take(kBlock));
  under.way.push_back(under.staging.take(kBlock));
  EXPECT_EQ(2U, under.way.size());
  EXPECT_EQ(7U, under.made.size());
  under.way.clear();
}

TEST(Staging, GivenBlocksOfOrdinaryMemoryThenEachBeginsWithAPage) {
  constexpr std::size_t kPage = 4096, kLarge = 1U << 20U;
  // Never destroyed, because its destructor would leave the blocks that it keeps.
  static auto* const staging = new Staging;
  for (const std::size_t size : {std::size_t{1}, kPage + 1, kLarge, kLarge + 1}) {
    const auto block = staging->take(size);
    EXPECT_EQ(0U, reinterpret_cast<std::uintptr_t>(block.get()) % kPage) << size;
  }
}

}  // namespace
}  // namespace clique::daemon
