// protocol::parse_spin_time, Spinning and Vigil.
#include "protocol/spin.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <thread>

namespace clique::protocol {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kMuch = 1ULL << 40U;

class Spin : public testing::Test {
 protected:
  void SetUp() override { set_spin_time(std::nullopt); }
  void TearDown() override { set_spin_time(std::nullopt); }

  static unsigned processors() {
    cpu_set_t set;
    CPU_ZERO(&set);
    return ::sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<unsigned>(CPU_COUNT(&set)) : 0;
  }
  /// Binds this thread to one processor during its lifetime.
  class OneProcessor {
   public:
    OneProcessor() {
      ::sched_getaffinity(0, sizeof before_, &before_);
      cpu_set_t one;
      CPU_ZERO(&one);
      for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i)
        if (CPU_ISSET(i, &before_)) CPU_SET(i, &one);
      ::sched_setaffinity(0, sizeof one, &one);
    }
    ~OneProcessor() { ::sched_setaffinity(0, sizeof before_, &before_); }
    OneProcessor(const OneProcessor&) = delete;
    OneProcessor& operator=(const OneProcessor&) = delete;

   private:
    cpu_set_t before_;
  };
};

TEST_F(Spin, TextsAreMicroseconds) {
  EXPECT_FALSE(parse_spin_time(nullptr));
  EXPECT_FALSE(parse_spin_time(""));
  EXPECT_EQ(parse_spin_time("0"), 0us);
  EXPECT_EQ(parse_spin_time("1000000"), 1s);
  for (const char* text : {"-1", "1000001", "50us", "x", " 5"})
    EXPECT_THROW(parse_spin_time(text), std::runtime_error) << text;
}

TEST_F(Spin, WhatIsAskedForCounts) {
  set_spin_time(77us);
  const OneProcessor one;
  EXPECT_EQ(Spinning(true).time(), 77us);
  EXPECT_EQ(Spinning(false).time(), 77us);
}

TEST_F(Spin, NobodySpinsOnTheOnlyProcessor) {
  EXPECT_EQ(Spinning(true).time() > 0us, processors() > 1);
  const OneProcessor one;
  EXPECT_EQ(Spinning(true).time(), 0us);
  EXPECT_EQ(Spinning(false).time(), 0us);
}

TEST_F(Spin, GoesOnForItsTimeSinceTheLastNews) {
  set_spin_time(1ms);
  Spinning spinning(true);
  const auto begin = Spinning::Clock::now();
  EXPECT_TRUE(spinning.go_on(begin, false));
  EXPECT_FALSE(spinning.go_on(begin + 1ms, false));
  EXPECT_FALSE(spinning.go_on(begin + 2ms, false));
  // So much later that it does not matter whether other threads needed the processor.
  const auto later = begin + 1h;
  EXPECT_FALSE(spinning.go_on(later, false));
  spinning.restart();
  EXPECT_TRUE(spinning.go_on(later, false));
  EXPECT_FALSE(spinning.go_on(later + 1ms, false));
}

TEST_F(Spin, GoesOnLongerForWhatIsExpectedWhereThereAreProcessors) {
  Spinning spinning(true);
  EXPECT_EQ(spinning.patience() > spinning.time(), processors() >= 8);
  const auto begin = Spinning::Clock::now();
  EXPECT_EQ(spinning.go_on(begin, true), processors() > 1);
  EXPECT_FALSE(spinning.go_on(begin + spinning.time(), false));
  EXPECT_FALSE(spinning.go_on(begin + spinning.patience(), true));
}

TEST_F(Spin, HasNoPatienceBesideATimeThatWasAskedFor) {
  set_spin_time(77us);
  EXPECT_EQ(Spinning(true).patience(), 77us);
}

TEST_F(Spin, SleepsSoonWhereOthersWantTheProcessor) {
  set_spin_time(1s);
  const OneProcessor one;
  Spinning spinning(true);
  std::atomic<bool> over{false};
  std::thread other([&] {
    while (!over) {
    }
  });
  const auto begin = Spinning::Clock::now();
  while (spinning.go_on(Spinning::Clock::now(), false)) {
  }
  over = true;
  other.join();
  EXPECT_LT(Spinning::Clock::now() - begin, 1s);
}

TEST_F(Spin, AVigilLastsAsTransfersDoWhereThereAreProcessors) {
  Vigil vigil;
  const auto begin = Vigil::Clock::now();
  EXPECT_TRUE(vigil.over(begin));
  vigil.prolong(64U << 20U);
  vigil.prolong(64U << 20U);
  // Two transfers of 64 MiB at 20 bytes per nanosecond.
  EXPECT_EQ(vigil.over(begin + 6ms), processors() < 8);
  EXPECT_TRUE(vigil.over(Vigil::Clock::now() + 7ms));
}

TEST_F(Spin, NoVigilIsLong) {
  Vigil vigil;
  vigil.prolong(kMuch);
  vigil.prolong(kMuch);
  EXPECT_TRUE(vigil.over(Vigil::Clock::now() + 20ms));
}

TEST_F(Spin, NoVigilBesideATimeThatWasAskedFor) {
  set_spin_time(0us);
  Vigil vigil;
  vigil.prolong(kMuch);
  EXPECT_TRUE(vigil.over(Vigil::Clock::now()));
}

TEST_F(Spin, NoVigilWithoutAProcessorToSpare) {
  const OneProcessor one;
  Vigil vigil;
  vigil.prolong(kMuch);
  EXPECT_TRUE(vigil.over(Vigil::Clock::now()));
}

}  // namespace
}  // namespace clique::protocol
