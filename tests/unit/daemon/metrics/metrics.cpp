#include "daemon/metrics/metrics.hpp"

#include <gtest/gtest.h>

namespace clique::daemon {
namespace {

TEST(Metrics, OfManyClientsNameThoseWithMostMemory) {
  std::vector<ClientUsage> clients;
  for (std::uint64_t i = 0; i < kMostClients + 50; ++i) clients.push_back({std::to_string(i), 1, i});
  const auto kept = bounded(std::move(clients));
  ASSERT_EQ(kept.size(), kMostClients + 1);
  EXPECT_EQ(kept.front().client, std::to_string(kMostClients + 49));
  EXPECT_EQ(kept.back().client, kOtherClients);
  EXPECT_EQ(kept.back().sessions, 50U);
  EXPECT_EQ(kept.back().memory, 49U * 50 / 2);
}

TEST(Metrics, OfFewClientsNameAll) {
  const auto kept = bounded({{"a", 1, 1}, {"b", 2, 2}});
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[0].client, "b");
}

}  // namespace
}  // namespace clique::daemon
