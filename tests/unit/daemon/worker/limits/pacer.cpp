// How a worker paces its kernels.
#include "daemon/worker/limits/pacer.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <thread>
#include <vector>

namespace clique::daemon {
namespace {

using namespace std::chrono_literals;

class PacerTest : public testing::Test {
 protected:
  PacerTest() {
    pacer_.obey(PacePage(Fd(::dup(page_.descriptor()))));
    pacer_.use_bell(Fd(::dup(bell_.get())));
  }
  bool busy() const {
    const auto now = PacePage::Clock::now();
    return page_.busy(0, now + 1h) != page_.busy(0, now);
  }
  std::uint64_t rung() const {
    std::uint64_t times = 0;
    return ::read(bell_.get(), &times, sizeof times) == sizeof times ? times : 0;
  }
  bool admits_within(std::chrono::milliseconds limit) {
    const auto end = PacePage::Clock::now() + limit;
    while (PacePage::Clock::now() < end) {
      if (pacer_.admits()) return true;
      std::this_thread::sleep_for(pacer_.again());
    }
    return false;
  }

  const PacePage page_;  // the daemon's
  const Fd bell_{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
  Tasks tasks_;
  Pacer pacer_{tasks_};
};

TEST_F(PacerTest, GivenAPrivateWorkerThenNothingIsCounted) {
  Pacer without(tasks_);
  EXPECT_EQ(without.launch(0), nullptr);
  EXPECT_TRUE(without.admits());
  EXPECT_EQ(without.longest_sleep(1000ms), 1000ms);
}

TEST_F(PacerTest, GivenADeviceForItselfThenNothingIsCounted) {
  EXPECT_EQ(pacer_.launch(0), nullptr);
  page_.set_pace(1, Pace::Counted);
  EXPECT_EQ(pacer_.launch(0), nullptr);
  EXPECT_FALSE(busy());
}

TEST_F(PacerTest, GivenKernelsThatAreCountedThenTheDaemonSeesThem) {
  page_.set_pace(0, Pace::Counted);
  auto first = pacer_.launch(0);
  auto second = pacer_.launch(0);
  ASSERT_NE(first, nullptr);
  EXPECT_TRUE(busy());
  first.reset();
  EXPECT_TRUE(busy());
  second.reset();
  EXPECT_FALSE(busy());
  EXPECT_GT(page_.busy(0, PacePage::Clock::now()), 0ns);
}

TEST_F(PacerTest, GivenASessionThatDozesThenItRingsOnce) {
  page_.set_pace(0, Pace::Doze);
  const auto first = pacer_.launch(0);
  const auto second = pacer_.launch(0);
  EXPECT_EQ(rung(), 1U);
  page_.set_pace(0, Pace::Counted);
  const auto third = pacer_.launch(0);
  EXPECT_EQ(rung(), 0U);
  page_.set_pace(0, Pace::Doze);
  const auto fourth = pacer_.launch(0);
  EXPECT_EQ(rung(), 1U);
}

TEST_F(PacerTest, GivenKernelsOfUnknownLengthThenOneRunsAndOneFollows) {
  page_.set_pace(0, Pace::Counted);
  EXPECT_TRUE(pacer_.admits());
  auto first = pacer_.launch(0);
  EXPECT_TRUE(pacer_.admits());
  const auto second = pacer_.launch(0);
  EXPECT_FALSE(pacer_.admits());
  first.reset();
  EXPECT_TRUE(pacer_.admits());
}

TEST_F(PacerTest, GivenShortKernelsThenSeveralAreHandedOverAhead) {
  page_.set_pace(0, Pace::Counted);
  // As many as it takes, if this process does not run for a while between two of them.
  const auto end = PacePage::Clock::now() + 60s;
  bool several = false;
  while (!several && PacePage::Clock::now() < end) {
    for (int i = 0; i < 100; ++i) pacer_.launch(0).reset();
    std::vector<std::shared_ptr<const void>> kernels;
    while (pacer_.admits() && kernels.size() < 10) kernels.push_back(pacer_.launch(0));
    several = kernels.size() == 10;
  }
  EXPECT_TRUE(several);
}

TEST_F(PacerTest, GivenAKernelThatWaitsWhenOneEndsThenTheMainThreadIsWoken) {
  page_.set_pace(0, Pace::Counted);
  auto first = pacer_.launch(0);
  const auto second = pacer_.launch(0);
  EXPECT_FALSE(pacer_.admits());
  EXPECT_FALSE(tasks_.run());
  std::thread([&first] { first.reset(); }).join();
  EXPECT_TRUE(tasks_.run());
}

TEST_F(PacerTest, GivenKernelsThatNeverBeginThenTheNextIsHandedOverAfterAMoment) {
  // The command that lets them begin may come behind it.
  page_.set_pace(0, Pace::Counted);
  const auto first = pacer_.launch(0);
  const auto second = pacer_.launch(0);
  EXPECT_FALSE(pacer_.admits());
  EXPECT_TRUE(admits_within(60s));
  const auto third = pacer_.launch(0);
  EXPECT_TRUE(pacer_.admits());
}

TEST_F(PacerTest, GivenASessionThatIsHeldThenItGoesOnWhenTheDaemonSaysSo) {
  page_.set_pace(0, Pace::Counted);
  pacer_.launch(0).reset();
  page_.set_pace(0, Pace::Held);
  EXPECT_FALSE(pacer_.admits());
  page_.set_pace(0, Pace::Counted);
  EXPECT_TRUE(pacer_.admits());
}

TEST_F(PacerTest, GivenADeviceOfOneProcessAtATimeThenTheDaemonSeesWhatIsBehind) {
  page_.set_pace(0, Pace::Counted);
  pacer_.take_turns();
  EXPECT_TRUE(pacer_.admits());
  auto first = pacer_.launch(0);
  EXPECT_EQ(page_.behind(0), 0U);
  EXPECT_TRUE(pacer_.admits());
  auto second = pacer_.launch(0);
  EXPECT_EQ(page_.behind(0), 1U);
  EXPECT_FALSE(pacer_.admits());
  EXPECT_EQ(page_.behind(0), 2U);
  first.reset();
  second.reset();
  page_.set_pace(0, Pace::Held);
  EXPECT_FALSE(pacer_.admits());
  EXPECT_EQ(page_.behind(0), 1U);
  page_.set_pace(0, Pace::Counted);
  EXPECT_TRUE(pacer_.admits());
  EXPECT_EQ(page_.behind(0), 0U);
}

TEST_F(PacerTest, GivenADeviceOfSeveralProcessesThenNoTurnIsAskedFor) {
  page_.set_pace(0, Pace::Counted);
  const auto first = pacer_.launch(0);
  const auto second = pacer_.launch(0);
  EXPECT_FALSE(pacer_.admits());
  EXPECT_EQ(page_.behind(0), 0U);
}

TEST_F(PacerTest, GivenADaemonThatIsStoppedThenNobodyIsHeldForever) {
  page_.set_pace(0, Pace::Counted);
  pacer_.launch(0).reset();
  page_.set_pace(0, Pace::Held);
  EXPECT_FALSE(pacer_.admits());
  EXPECT_TRUE(admits_within(60s));
}

TEST_F(PacerTest, GivenPlacesAndPacesThatDoNotExistThenTheyAreFree) {
  page_.set_pace(0, static_cast<Pace>(77));
  EXPECT_EQ(pacer_.launch(0), nullptr);
  EXPECT_EQ(pacer_.launch(PacePage::kDevices), nullptr);
  EXPECT_TRUE(pacer_.admits());
}

TEST_F(PacerTest, GivenKernelsUnderWayThenTheWorkerWakesUpToSayThatItRuns) {
  page_.set_pace(0, Pace::Counted);
  EXPECT_EQ(pacer_.longest_sleep(1000ms), 1000ms);
  const auto kernel = pacer_.launch(0);
  EXPECT_LT(pacer_.longest_sleep(1000ms), 50ms);
  const auto beats = page_.beats();
  pacer_.beat();
  EXPECT_NE(page_.beats(), beats);
}

}  // namespace
}  // namespace clique::daemon
