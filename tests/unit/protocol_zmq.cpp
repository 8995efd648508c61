// Over how many connections what is large goes.
#include "protocol/transport/zmq.hpp"

#include <gtest/gtest.h>

namespace clique::protocol {
namespace {

TEST(Connections, OnAShortWayComeOneAfterTheOther) {
  EXPECT_TRUE(worth_another_connection(0, false, false));
  const unsigned most = bulk_connections(false);
  for (unsigned present = 1; present < most; ++present) {
    EXPECT_FALSE(worth_another_connection(present, false, false));
    EXPECT_TRUE(worth_another_connection(present, true, false));
  }
  EXPECT_FALSE(worth_another_connection(most, true, false));
}

TEST(Connections, OnALongWayComeAtOnce) {
  const unsigned most = bulk_connections(true);
  EXPECT_GT(most, 1U);
  EXPECT_GE(most, bulk_connections(false));
  for (unsigned present = 0; present < most; ++present)
    EXPECT_TRUE(worth_another_connection(present, false, true));
  EXPECT_FALSE(worth_another_connection(most, true, true));
}

TEST(Connections, HaveThreadsOfTheirOwn) {
  EXPECT_GT(io_threads(), static_cast<int>(bulk_connections(false)));
}

}  // namespace
}  // namespace clique::protocol
