#include "icd/core/division/movement_meter.hpp"

#include <gtest/gtest.h>

namespace clique::icd {

namespace {

using namespace std::chrono_literals;

class MovementMeterTest : public ::testing::Test {
 protected:
  void move(std::uint64_t bytes, MovementMeter::Clock::duration time) {
    meter_.began(now_);
    now_ += time;
    meter_.ended(now_, bytes);
  }

  MovementMeter meter_{MovementMeter::kAssumed};
  const std::uint64_t least_ = meter_.least();
  MovementMeter::Clock::time_point now_;
};

TEST_F(MovementMeterTest, GivenNothingThenTheSpeedIsAssumed) {
  EXPECT_EQ(meter_.speed().each_byte, MovementMeter::kAssumed);
  EXPECT_FALSE(meter_.speed().measured);
  // 4 ms at the assumed speed.
  EXPECT_EQ(least_, 4'000'000U);
  EXPECT_EQ(MovementMeter(MovementMeter::kAssumedNear).least(), 40'000'000U);
}

TEST_F(MovementMeterTest, GivenTransferThenItsSpeedCounts) {
  move(least_, 2ms);
  EXPECT_TRUE(meter_.speed().measured);
  EXPECT_DOUBLE_EQ(meter_.speed().each_byte, 0.5);
}

TEST_F(MovementMeterTest, GivenSmallTransfersThenTheyDoNotCount) {
  for (int i = 0; i < 100; ++i) move(least_ - 1, 50ms);
  EXPECT_FALSE(meter_.speed().measured);
}

TEST_F(MovementMeterTest, GivenSmallTransfersAtTheSameTimeThenTheyCountTogether) {
  for (int i = 0; i < 4; ++i) meter_.began(now_ + i * 1ms);
  for (int i = 0; i < 4; ++i) meter_.ended(now_ + (7 + i) * 1ms, least_ / 4);
  EXPECT_DOUBLE_EQ(meter_.speed().each_byte, 2.5);
}

TEST_F(MovementMeterTest, GivenTransferThatFailsThenItsTimeCountsWithTheOthers) {
  meter_.began(now_);
  EXPECT_TRUE(meter_.speed().under_way);
  meter_.ended(now_ + 1s, 0);
  EXPECT_FALSE(meter_.speed().under_way);
  EXPECT_FALSE(meter_.speed().measured);
  meter_.began(now_);
  meter_.began(now_);
  meter_.ended(now_ + 4ms, 0);
  meter_.ended(now_ + 8ms, least_);
  EXPECT_DOUBLE_EQ(meter_.speed().each_byte, 2);
}

TEST_F(MovementMeterTest, GivenLinksThatBecomeSlowThenTheSpeedFollows) {
  for (int i = 0; i < 100; ++i) move(least_, 1ms);
  EXPECT_NEAR(meter_.speed().each_byte, 0.25, 1e-9);
  move(least_, 8ms);
  EXPECT_LT(meter_.speed().each_byte, 0.5) << "a single slow transfer does not count much";
  for (int i = 0; i < 100; ++i) move(least_, 8ms);
  EXPECT_NEAR(meter_.speed().each_byte, 2, 0.05);
}

}  // namespace

}  // namespace clique::icd
