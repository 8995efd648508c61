#include "daemon/server/devices/reservations.hpp"

#include <gtest/gtest.h>

#include "protocol/messages/session.hpp"

namespace clique::daemon {
namespace {

using Clock = Reservations::Clock;
using Holder = Reservations::Holder;

class ReservationsTest : public ::testing::Test {
 protected:
  const Holder alice{"alice", 1};
  const Holder bob{"bob", 1};
  const ServedDevice first{0, 0};
  const ServedDevice second{0, 1};
  const Clock::time_point now = Clock::now();
  Reservations reservations;
};

TEST_F(ReservationsTest, CountForOthersOnly) {
  EXPECT_TRUE(reservations.add(alice, first, false, now));
  EXPECT_TRUE(reservations.add(bob, first, false, now));
  EXPECT_TRUE(reservations.add(alice, second, false, now));
  EXPECT_EQ(reservations.count(first, alice), 1U);
  EXPECT_EQ(reservations.count(second, alice), 0U);
  EXPECT_EQ(reservations.count(second, bob), 1U);
  EXPECT_EQ(reservations.count(first, {"carol", 1}), 2U);
}

TEST_F(ReservationsTest, ProgramsOfOneClientAreToldApart) {
  EXPECT_TRUE(reservations.add(alice, first, false, now));
  EXPECT_EQ(reservations.count(first, {"alice", 2}), 1U);
  EXPECT_EQ(reservations.count(first, {"bob", 1}), 1U);
}

TEST_F(ReservationsTest, EndWithTheirTime) {
  EXPECT_TRUE(reservations.add(alice, first, false, now));
  const auto soon = now + std::chrono::seconds(protocol::kReservationSeconds) / 2;
  EXPECT_TRUE(reservations.add(alice, second, false, soon));
  reservations.expire(soon);
  EXPECT_EQ(reservations.count(first, bob), 1U);
  reservations.expire(now + std::chrono::seconds(protocol::kReservationSeconds));
  EXPECT_EQ(reservations.count(first, bob), 0U);
  EXPECT_EQ(reservations.count(second, bob), 1U);
}

TEST_F(ReservationsTest, AreRemovedTogether) {
  EXPECT_TRUE(reservations.add(alice, first, false, now));
  EXPECT_TRUE(reservations.add(alice, second, false, now));
  EXPECT_TRUE(reservations.add(bob, second, false, now));
  reservations.remove(alice);
  EXPECT_EQ(reservations.count(first, bob), 0U);
  EXPECT_EQ(reservations.count(second, alice), 1U);
}

TEST_F(ReservationsTest, OfADriverMayBeExclusive) {
  EXPECT_TRUE(reservations.add(alice, first, false, now));
  EXPECT_TRUE(reservations.any(0, false, bob));
  EXPECT_FALSE(reservations.any(0, true, bob));
  EXPECT_FALSE(reservations.any(1, false, bob));
  EXPECT_TRUE(reservations.add(alice, second, true, now));
  EXPECT_TRUE(reservations.any(0, true, bob));
  EXPECT_FALSE(reservations.any(0, true, alice));
}

TEST_F(ReservationsTest, OfOneClientAreLimited) {
  std::uint64_t number = 0;
  while (number < 100000 && reservations.add({"alice", ++number}, first, false, now)) {
  }
  EXPECT_EQ(number, 257U);
  EXPECT_TRUE(reservations.add(bob, first, false, now));
  EXPECT_TRUE(reservations.add({"alice", 1}, first, false, now)) << "it goes on";
}

}  // namespace
}  // namespace clique::daemon
