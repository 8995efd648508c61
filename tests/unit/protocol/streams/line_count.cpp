// How many lines send, on links that are played here.
#include "protocol/streams/line_count.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace clique::protocol {
namespace {

using namespace std::chrono_literals;

constexpr unsigned kLines = 14;
constexpr double kGigabyte = 1e9;

/// A set that sends without a pause, and its clock.
class SendingSet {
 public:
  /// @param rate bytes per second that a number of lines reach
  SendingSet(std::chrono::microseconds round_trip, std::function<double(unsigned)> rate)
      : rate_(std::move(rate)) {
    // They connect one after the other.
    for (unsigned lines = 1; lines <= kLines; ++lines) count.set_way(lines, round_trip);
  }

  /// @returns the largest number of lines in that time
  unsigned send_for(std::chrono::milliseconds time) {
    unsigned most = 0;
    for (const auto end = now_ + time; now_ < end; now_ += kStep) {
      const unsigned lines = std::min(count.count(), kLines);
      acknowledged_ += rate_(lines) * std::chrono::duration<double>(kStep).count();
      total_.acknowledged = static_cast<std::uint64_t>(acknowledged_);
      total_.repeated = static_cast<std::uint64_t>(repeated * acknowledged_);
      busy_ += busy * lines;
      held_ += held * lines;
      total_.busy = std::chrono::duration_cast<std::chrono::microseconds>(busy_ * kStep);
      total_.held = std::chrono::duration_cast<std::chrono::microseconds>(held_ * kStep);
      if (count.due(now_)) count.measure(now_, total_);
      most = std::max(most, lines);
    }
    return most;
  }

  LineCount count;
  // Shares of the bytes, and of the time of each line.
  double repeated = 0;
  double busy = 0;
  double held = 0;

 private:
  static constexpr std::chrono::microseconds kStep{100};

  std::function<double(unsigned)> rate_;
  LineCount::Time now_{1h};
  double acknowledged_ = 0;
  double busy_ = 0;
  double held_ = 0;
  Delivery total_;
};

/// A link of this rate, of which each line reaches a share.
std::function<double(unsigned)> link(double rate, double line) {
  return [=](unsigned lines) { return std::min(rate, lines * line); };
}

TEST(LineCount, IsAllOnShortWays) {
  for (const std::chrono::microseconds round_trip : {0us, 20us, 99us}) {
    SendingSet set(round_trip, link(kGigabyte, kGigabyte));
    EXPECT_EQ(set.count.count(), LineCount::kAll) << round_trip.count();
    set.send_for(500ms);
    EXPECT_EQ(set.count.count(), LineCount::kAll) << round_trip.count();
  }
}

TEST(LineCount, IsAllWhereThereAreFew) {
  LineCount count;
  count.set_way(LineCount::kFirst, 1ms);
  EXPECT_EQ(count.count(), LineCount::kAll);
}

TEST(LineCount, StaysSmallWhereOneLineFillsTheLink) {
  SendingSet set(300us, link(0.117 * kGigabyte, kGigabyte));
  EXPECT_EQ(set.count.count(), LineCount::kFirst);
  set.send_for(300ms);
  EXPECT_EQ(set.count.count(), LineCount::kFirst);
}

TEST(LineCount, TriesMoreLinesLessAndLessOften) {
  SendingSet set(300us, link(0.117 * kGigabyte, kGigabyte));
  int attempts = 0;
  for (int second = 0; second < 60; ++second) attempts += set.send_for(1s) > LineCount::kFirst ? 1 : 0;
  EXPECT_GE(attempts, 3);
  EXPECT_LE(attempts, 10);
}

TEST(LineCount, StaysSmallWhereTheWayIsTheLimit) {
  SendingSet set(300us, link(0.117 * kGigabyte, kGigabyte));
  set.busy = 1;
  set.held = 0.05;
  EXPECT_EQ(set.send_for(60s), LineCount::kFirst);
  // More connections may be faster where packets are lost.
  set.repeated = 0.001;
  EXPECT_GT(set.send_for(60s), LineCount::kFirst);
}

TEST(LineCount, GrowsSoonWhereBuffersAreTheLimit) {
  SendingSet set(2ms, link(kGigabyte, 0.1 * kGigabyte));
  set.busy = 1;
  set.held = 0.8;
  EXPECT_EQ(set.count.count(), LineCount::kFirst);
  set.send_for(150ms);
  EXPECT_EQ(std::min(set.count.count(), kLines), kLines);
}

TEST(LineCount, IsAllOnVeryLongWaysUntilTheyOverfillAQueue) {
  SendingSet set(20ms, link(kGigabyte, 0.1 * kGigabyte));
  set.send_for(1s);
  EXPECT_EQ(set.count.count(), LineCount::kAll);
  set.busy = 1;
  set.repeated = 0.05;
  set.send_for(200ms);
  EXPECT_EQ(set.count.count(), LineCount::kFirst);
}

TEST(LineCount, GrowsWhereEachLineAddsToTheRate) {
  for (const std::chrono::microseconds round_trip : {200us, 2000us, 5000us}) {
    SendingSet set(round_trip, link(100 * kGigabyte, 0.03 * kGigabyte));
    set.send_for(500ms);
    EXPECT_EQ(std::min(set.count.count(), kLines), kLines) << round_trip.count();
  }
}

TEST(LineCount, ReturnsToWhatWasEnough) {
  SendingSet set(200us, link(1 * kGigabyte, 0.14 * kGigabyte));
  EXPECT_EQ(set.send_for(300ms), kLines);
  EXPECT_EQ(set.count.count(), 8U);
}

TEST(LineCount, DoesNotTakeTheBeginningOfConnectionsForAGain) {
  double share = 0.001;
  SendingSet set(2ms, [&](unsigned) {
    share = std::min(1.0, share * 1.01);
    return share * kGigabyte;
  });
  set.send_for(60ms);
  EXPECT_EQ(set.count.count(), LineCount::kFirst);
}

TEST(LineCount, LearnsNothingFromATimeWithTooLittleToSend) {
  LineCount count;
  count.set_way(kLines, 300us);
  LineCount::Time now{1h};
  std::uint64_t acknowledged = 0;
  for (int i = 0; i < 100; ++i, now += 20ms) {
    acknowledged += 1'000'000;
    count.note_idle();
    count.measure(now, {acknowledged});
    ASSERT_EQ(count.count(), LineCount::kFirst);
  }
}

TEST(LineCount, LearnsNothingFromConnectionsThatAreMadeAgain) {
  LineCount count;
  count.set_way(kLines, 300us);
  LineCount::Time now{1h};
  for (std::uint64_t i = 0; i < 100; ++i, now += 20ms) {
    count.measure(now, {1'000'000'000 - 1'000'000 * i});
    ASSERT_EQ(count.count(), LineCount::kFirst);
  }
}

TEST(LineCount, IsNeverMoreThanThereAreAfterLinesAreLost) {
  SendingSet set(200us, link(100 * kGigabyte, 0.03 * kGigabyte));
  set.send_for(500ms);
  set.count.set_way(6, 200us);
  EXPECT_EQ(set.count.count(), 6U);
  set.count.set_way(LineCount::kFirst, 200us);
  EXPECT_EQ(set.count.count(), LineCount::kAll);
  set.count.set_way(kLines, 200us);
  EXPECT_EQ(set.count.count(), LineCount::kFirst);
}

}  // namespace
}  // namespace clique::protocol
