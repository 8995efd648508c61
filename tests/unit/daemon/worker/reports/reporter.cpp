// Reports that nobody waits for go out with others.
#include "daemon/worker/reports/reporter.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "protocol/limits.hpp"
#include "unit/daemon/worker/reports/reporter_fixture.hpp"

namespace clique::daemon {
namespace {

class Unhurried : public WithReporter {
 protected:
  Unhurried() {
    reporter_.expect_prints(false);
    reporter_.open(nullptr, "a client that is not connected", nullptr, protocol::Attached{});
  }

  /// As the backends report commands.
  void report_unhurried(int count) {
    for (int i = 0; i < count; ++i) reporter_.add_unhurried({++command_, 0, {}});
    reporter_.flush();
  }

  protocol::CommandId command_ = 0;
};

TEST_F(Unhurried, GivenOneThenItWaitsAndTheMainThreadIsWokenUp) {
  EXPECT_TRUE(reporter_.settled());
  EXPECT_FALSE(reporter_.unhurried());
  EXPECT_FALSE(tasks_.run());
  report_unhurried(1);
  EXPECT_FALSE(reporter_.settled());
  EXPECT_TRUE(reporter_.unhurried());
  EXPECT_TRUE(tasks_.run());
  report_unhurried(1);
  EXPECT_FALSE(tasks_.run()) << "once is enough";
}

TEST_F(Unhurried, GivenAReportThatSomebodyWaitsForThenAllGoWithIt) {
  report_unhurried(3);
  ASSERT_FALSE(reporter_.settled());
  reporter_.report(protocol::Finished{1, 0});
  EXPECT_TRUE(reporter_.settled());
  EXPECT_FALSE(reporter_.unhurried());
}

TEST_F(Unhurried, GivenManyThenTheyAreSent) {
  report_unhurried(255);
  EXPECT_FALSE(reporter_.settled());
  report_unhurried(1);
  EXPECT_TRUE(reporter_.settled());
}

TEST_F(Unhurried, GivenTimeThenTheyAreSent) {
  report_unhurried(1);
  std::this_thread::sleep_for(protocol::kLongestUnhurried);
  reporter_.flush();
  EXPECT_FALSE(reporter_.settled());
  reporter_.flush_unhurried();
  EXPECT_TRUE(reporter_.settled());
  EXPECT_FALSE(reporter_.unhurried());
}

}  // namespace
}  // namespace clique::daemon
