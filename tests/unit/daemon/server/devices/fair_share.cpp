// How the daemon shares a device between sessions, on a simulated device and with a simulated clock.
#include "daemon/server/devices/fair_share.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <deque>
#include <numeric>
#include <random>
#include <vector>

namespace clique::daemon {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

constexpr nanoseconds kStep = 50us;

/// A session whose worker obeys its page.
struct Simulated {
  FairShare::Id id;
  std::uint32_t share;
  PacePage page = {};        // the daemon's
  nanoseconds kernel = 1ms;  // how long each of its kernels needs the whole device
  nanoseconds rest = 0ns;    // what its host does between two of them
  bool works = true;         // has kernels
  bool obeys = true;
  bool stopped = false;  // its process does not run; what is in flight stays there
  bool ahead = false;    // enqueues kernels before the one that runs has ended

  nanoseconds left = 0ns;  // of the kernel in flight
  nanoseconds resting = 0ns;
  nanoseconds had = 0ns;  // device time
  nanoseconds longest = 0ns;
  nanoseconds holding = 0ns;  // for how long it has been held
  nanoseconds longest_hold = 0ns;
  nanoseconds busy = 0ns;
  PacePage::Clock::time_point since = {};

  bool in_flight() const { return left > 0ns; }
  bool held() const { return page.pace(0) == Pace::Held; }
};

/// A device that gives each session that has a kernel on it the same time, as GPUs and processors do.
class FairShareTest : public testing::Test {
 protected:
  Simulated& join(std::uint32_t share = 1) {
    Simulated& session = sessions_.emplace_back(Simulated{.id = ++last_, .share = share});
    fair_.add(session.id, session.page, 0, share);
    rung_ = true;
    return session;
  }
  void leave(Simulated& session) {
    fair_.remove(session.id);
    session.works = false;
    session.left = 0ns;
    rung_ = true;
  }

  void run(nanoseconds time) {
    for (Simulated& session : sessions_) session.had = session.longest = session.longest_hold = 0ns;
    for (nanoseconds passed = 0ns; passed < time; passed += kStep) step();
  }

  static double ratio(const Simulated& one, const Simulated& other) {
    return double(one.had.count()) / double(other.had.count());
  }
  /// The fraction of the time in which the device has worked.
  double used(nanoseconds time) const {
    const auto sum =
        std::accumulate(sessions_.begin(), sessions_.end(), 0ns,
                        [](nanoseconds so_far, const Simulated& one) { return so_far + one.had; });
    return double(sum.count()) / double(time.count());
  }
  bool sharing() const { return sharing_; }

  std::deque<Simulated> sessions_;
  /// How fast the device is while several sessions have kernels on it.
  double while_changing_ = 1;

 private:
  void step() {
    for (Simulated& session : sessions_) launch(session);
    const auto present = std::count_if(sessions_.begin(), sessions_.end(),
                                       [](const Simulated& session) { return session.in_flight(); });
    now_ += kStep;
    const auto part = std::chrono::duration_cast<nanoseconds>(kStep * (present > 1 ? while_changing_ : 1));
    for (Simulated& session : sessions_) {
      session.holding = session.held() ? session.holding + kStep : 0ns;
      session.longest_hold = std::max(session.longest_hold, session.holding);
      if (session.in_flight()) {
        session.had += part / present;
        session.left -= part / present;
        if (!session.in_flight()) end(session);
      }
      if (!session.stopped) session.page.beat();
    }
    if (rung_ || (sharing_ && now_ - looked_ >= FairShare::kInterval)) {
      rung_ = false;
      looked_ = now_;
      sharing_ = fair_.turn(now_);
    }
  }
  void launch(Simulated& session) {
    if (!session.stopped && session.obeys) session.page.set_behind(0, session.ahead && session.works ? 1 : 0);
    if (session.in_flight() || session.stopped || !session.works) return;
    if ((session.resting -= kStep) > 0ns || (session.obeys && session.held())) return;
    session.left = session.kernel;
    session.since = now_;
    session.page.set_busy(0, session.busy, now_);
    rung_ = rung_ || session.page.pace(0) == Pace::Doze;
  }
  void end(Simulated& session) {
    session.longest = std::max<nanoseconds>(session.longest, now_ - session.since);
    session.busy += now_ - session.since;
    session.page.set_busy(0, session.busy, {});
    session.resting = session.rest;
    session.left = 0ns;
  }

  FairShare fair_;
  FairShare::Id last_ = 0;
  PacePage::Clock::time_point now_{1h};
  PacePage::Clock::time_point looked_;
  bool rung_ = false;
  bool sharing_ = false;
};

TEST_F(FairShareTest, GivenOneSessionThenNothingIsCounted) {
  const Simulated& session = join();
  run(100ms);
  EXPECT_FALSE(session.page.paced());
  EXPECT_EQ(session.had, 100ms);
}

TEST_F(FairShareTest, GivenOthersThatAreIdleThenASessionIsSoonAsIfAlone) {
  const Simulated& session = join();
  join().works = false;
  join().works = false;
  run(1s);
  EXPECT_EQ(session.page.pace(0), Pace::Free);
  EXPECT_EQ(session.had, 1s);
  EXPECT_FALSE(sharing());
}

TEST_F(FairShareTest, GivenEqualSharesThenNobodyIsHeld) {
  for (int i = 0; i < 4; ++i) join();
  run(2s);
  for (const Simulated& session : sessions_) EXPECT_NEAR(ratio(session, sessions_[0]), 1, 0.05);
  EXPECT_DOUBLE_EQ(used(2s), 1);
}

class FairShareOf : public FairShareTest, public testing::WithParamInterface<std::vector<std::uint32_t>> {};

TEST_P(FairShareOf, GivenBusySessionsThenEachHasItsShareAndTheDeviceNeverRests) {
  for (const std::uint32_t share : GetParam()) join(share);
  run(1s);  // they find their places
  run(10s);
  const double all = std::accumulate(GetParam().begin(), GetParam().end(), 0.0);
  for (const Simulated& session : sessions_)
    EXPECT_NEAR(double(session.had.count()) / double(nanoseconds(10s).count()), session.share / all,
                0.1 * session.share / all)
        << "share " << session.share << " of " << all;
  EXPECT_GT(used(10s), 0.99);
}

INSTANTIATE_TEST_SUITE_P(Shares, FairShareOf,
                         testing::Values(std::vector<std::uint32_t>{1, 1}, std::vector<std::uint32_t>{1, 3},
                                         std::vector<std::uint32_t>{100, 300},
                                         std::vector<std::uint32_t>{1, 1, 1, 1},
                                         std::vector<std::uint32_t>{1, 3, 1, 3},
                                         std::vector<std::uint32_t>{1, 2, 3, 4}));

TEST_F(FairShareTest, GivenKernelsOfDifferentLengthsThenTheDeviceIsDividedByTimeAndNotByKernels) {
  Simulated& brief = join();
  Simulated& lengthy = join();
  brief.kernel = 100us;
  lengthy.kernel = 20ms;
  run(10s);
  EXPECT_NEAR(ratio(brief, lengthy), 1, 0.1);
  // The kernels of the other session never keep it from the device.
  EXPECT_LT(brief.longest, lengthy.kernel);
}

TEST_F(FairShareTest, GivenSessionsThatEnqueueAheadThenTheyTakeTurns) {
  for (int i = 0; i < 4; ++i) join();
  while_changing_ = 0.9;
  run(2s);
  EXPECT_NEAR(used(2s), 0.9, 0.01);
  for (Simulated& session : sessions_) session.ahead = true;
  run(4s);
  EXPECT_GT(used(4s), 0.98);
  for (const Simulated& session : sessions_) {
    EXPECT_NEAR(ratio(session, sessions_[0]), 1, 0.05);
    EXPECT_LT(session.longest_hold, 150ms);
  }
}

TEST_F(FairShareTest, GivenSharesThenTurnsAreAsLong) {
  for (const std::uint32_t share : {1, 2, 3, 4}) join(share).ahead = true;
  while_changing_ = 0.9;
  run(1s);
  run(10s);
  EXPECT_GT(used(10s), 0.98);
  for (const Simulated& session : sessions_)
    EXPECT_NEAR(ratio(session, sessions_[0]), session.share, 0.05 * session.share);
}

TEST_F(FairShareTest, GivenManySessionsThenNoneWaitsLong) {
  for (int i = 0; i < 20; ++i) join().ahead = true;
  run(4s);
  for (const Simulated& session : sessions_) {
    EXPECT_NEAR(ratio(session, sessions_[0]), 1, 0.1);
    EXPECT_LT(session.longest_hold, 300ms);
  }
}

TEST_F(FairShareTest, GivenASessionThatAwaitsEachKernelThenItTakesNoTurns) {
  Simulated& brief = join();
  brief.kernel = 100us;
  for (int i = 0; i < 2; ++i) {
    Simulated& lengthy = join();
    lengthy.kernel = 20ms;
    lengthy.ahead = true;
  }
  run(5s);
  EXPECT_NEAR(ratio(brief, sessions_[1]), 1, 0.15);
  EXPECT_NEAR(ratio(brief, sessions_[2]), 1, 0.15);
  EXPECT_LT(brief.longest, 1ms);
  EXPECT_LT(brief.longest_hold, 30ms);
}

TEST_F(FairShareTest, GivenASessionWithNothingLeftInItsTurnThenTheNextOneBegins) {
  Simulated& first = join();
  Simulated& second = join();
  first.ahead = second.ahead = true;
  run(1s);
  first.works = false;
  run(100ms);
  run(1s);
  EXPECT_EQ(second.had, 1s);
}

TEST_F(FairShareTest, GivenAWorkerThatClaimsToHaveKernelsForATurnThenItPaysForThat) {
  Simulated& honest = join(1);
  Simulated& liar = join(1);
  honest.ahead = true;
  liar.works = liar.obeys = false;
  for (int i = 0; i < 1000; ++i) {
    // It is busy until its turn begins, and then rests.
    liar.page.set_behind(0, 7);
    liar.page.set_busy(0, 0ns,
                       liar.held() ? PacePage::Clock::time_point(1ns) : PacePage::Clock::time_point{});
    const nanoseconds before = honest.had;
    run(5ms);
    honest.had += before;
  }
  EXPECT_GT(honest.had, 2400ms);
}

TEST_F(FairShareTest, GivenASessionThatOftenRestsThenTheOthersUseItsTime) {
  Simulated& restless = join();
  Simulated& busy = join();
  restless.rest = 3ms;
  run(5s);
  EXPECT_GT(used(5s), 0.99);
  EXPECT_GT(ratio(busy, restless), 1.5);
}

TEST_F(FairShareTest, GivenASessionThatWasIdleThenItHasSavedNothingUp) {
  Simulated& first = join();
  Simulated& second = join();
  Simulated& third = join();
  third.works = false;
  run(5s);
  third.works = true;
  run(200ms);
  EXPECT_NEAR(ratio(third, first), 1, 0.2);
  EXPECT_NEAR(ratio(first, second), 1, 0.1);
}

TEST_F(FairShareTest, GivenASessionThatJoinsLateThenItBeginsWhereTheOthersAre) {
  Simulated& first = join(1);
  Simulated& second = join(3);
  run(5s);
  Simulated& third = join(1);
  run(2s);
  EXPECT_NEAR(ratio(third, first), 1, 0.15);
  EXPECT_NEAR(ratio(second, first), 3, 0.4);
}

TEST_F(FairShareTest, GivenASessionThatEndsThenTheOtherHasTheDevice) {
  Simulated& first = join(1);
  Simulated& second = join(100);
  run(1s);
  leave(second);
  run(1s);
  EXPECT_GT(used(1s), 0.99);
  EXPECT_FALSE(first.page.paced());
}

TEST_F(FairShareTest, GivenAWorkerThatIsStoppedThenNobodyWaitsForIt) {
  Simulated& first = join(1);
  Simulated& second = join(100);
  run(1s);
  second.stopped = true;
  run(200ms);
  run(1s);
  EXPECT_FALSE(first.held());
  // What is in flight has its place on the device, which nobody can take away.
  EXPECT_GT(first.had, 490ms);
  second.stopped = false;
  run(100ms);
  run(2s);
  EXPECT_GT(ratio(second, first), 50);
}

TEST_F(FairShareTest, GivenALargeShareThenTheOthersDoNotStarve) {
  Simulated& first = join(1);
  join(1000);
  run(20s);
  EXPECT_GT(first.had, 10ms);
}

TEST_F(FairShareTest, GivenAWorkerThatDisobeysThenTheOthersAreNeverHeld) {
  Simulated& honest = join(1);
  Simulated& greedy = join(1);
  join(2).works = false;
  greedy.obeys = false;
  run(2s);
  EXPECT_FALSE(honest.held());
  EXPECT_GE(ratio(honest, greedy), 0.95);
}

TEST_F(FairShareTest, GivenAWorkerThatClaimsToUseTheDeviceThenItPaysForThat) {
  Simulated& honest = join(1);
  Simulated& liar = join(1);
  liar.works = false;
  // As if a kernel were there since ever.
  liar.page.set_busy(0, 0ns, PacePage::Clock::time_point(1ns));
  run(5s);
  // No more than half of the device, which is its share, can be kept free for it.
  EXPECT_GT(honest.had, 2400ms);
}

TEST_F(FairShareTest, GivenNumbersThatAWorkerHasMadeUpThenTheOthersKeepTheirShares) {
  Simulated& one = join(1);
  Simulated& other = join(1);
  Simulated& liar = join(1);
  liar.works = false;
  std::mt19937_64 random(7);
  for (int i = 0; i < 2000; ++i) {
    liar.page.set_busy(0, nanoseconds(static_cast<std::int64_t>(random())),
                       PacePage::Clock::time_point(nanoseconds(static_cast<std::int64_t>(random()))));
    const nanoseconds before = one.had, beside = other.had;
    run(1ms);
    one.had += before;
    other.had += beside;
  }
  EXPECT_NEAR(ratio(one, other), 1, 0.1);
  EXPECT_GT(one.had + other.had, 2s * 2 / 3);
}

TEST(PacePage, GivenWhatTheDaemonSaysThenTheWorkerReadsIt) {
  const PacePage ours;
  const PacePage theirs{Fd(::dup(ours.descriptor()))};
  EXPECT_FALSE(theirs.paced());
  ours.set_pace(0, Pace::Held);
  ours.set_pace(31, Pace::Doze);
  EXPECT_TRUE(theirs.paced());
  EXPECT_EQ(theirs.pace(0), Pace::Held);
  EXPECT_EQ(theirs.pace(31), Pace::Doze);
  ours.set_pace(0, Pace::Free);
  EXPECT_TRUE(theirs.paced());
  ours.set_pace(31, Pace::Free);
  EXPECT_FALSE(theirs.paced());
}

TEST(PacePage, GivenWhatTheWorkerSaysThenTheDaemonReadsIt) {
  const PacePage ours;
  const PacePage theirs{Fd(::dup(ours.descriptor()))};
  const PacePage::Clock::time_point now{1h};
  theirs.set_busy(3, 5ms, {});
  EXPECT_EQ(ours.busy(3, now), 5ms);
  theirs.set_busy(3, 5ms, now - 2ms);
  EXPECT_EQ(ours.busy(3, now), 7ms);
  // A kernel that begins in the future has not been there.
  theirs.set_busy(3, 5ms, now + 2ms);
  EXPECT_EQ(ours.busy(3, now), 5ms);
  const auto beats = ours.beats();
  theirs.beat();
  EXPECT_NE(ours.beats(), beats);
}

TEST(PacePage, GivenTheWorkerThenItCannotTakeTheMemoryAway) {
  const PacePage ours;
  EXPECT_NE(::ftruncate(ours.descriptor(), 0), 0);
  EXPECT_EQ(ours.pace(0), Pace::Free);
}

}  // namespace
}  // namespace clique::daemon
