// Staging, where its blocks come back only once somebody asks for them.
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <vector>

#include "daemon/backend/staging.hpp"

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

}  // namespace
}  // namespace clique::daemon
