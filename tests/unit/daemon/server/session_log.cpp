// The two lines about a session: of several workers, and with text that others have written.
#include "daemon/server/session_log.hpp"

#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>

#include <limits>
#include <regex>
#include <sstream>
#include <tuple>

#include "daemon/common/log.hpp"

namespace clique::daemon {
namespace {

class SessionLogTest : public testing::Test {
 protected:
  SessionLogTest() {
    auto logger =
        std::make_shared<spdlog::logger>("", std::make_shared<spdlog::sinks::ostream_sink_mt>(lines_));
    logger->set_pattern("%v");
    spdlog::set_default_logger(std::move(logger));
  }
  ~SessionLogTest() override { spdlog::set_default_logger(before_); }

  /// What has been logged since the last call.
  std::string logged() {
    std::string text = lines_.str();
    lines_.str({});
    return text;
  }
  static SessionOwner owner() {
    return {"alice", {"10.0.0.1:5000", {}, {}}, "program", {"a GPU", "another"}};
  }

  SessionLog log;

 private:
  std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
  std::ostringstream lines_;
};

#define EXPECT_CONTAINS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST_F(SessionLogTest, GivenBeginThenOneLineSaysWhoHasWhat) {
  log.begin(7, owner(), 1);
  const std::string line = logged();
  EXPECT_TRUE(line.starts_with("session 7 began: client=\"alice\" user=- address=10.0.0.1:5000 key=SHA256:"))
      << line;
  EXPECT_TRUE(line.ends_with(" program=\"program\" devices=\"a GPU, another\"\n")) << line;
}

TEST_F(SessionLogTest, GivenSeveralWorkersThenOneLineSumsThemUpWhenTheLastHasEnded) {
  log.begin(1, owner(), 3);
  logged();
  log.worker_ended(1, SessionRecord{"", {1, 2, 3, 4, 5, 6, 7, 0, 8}, {}}, "");
  log.worker_ended(1, SessionRecord{"a kernel ran too long", {10, 20, 30, 40, 50, 60, 70, 0, 80}, {}}, "");
  EXPECT_EQ(logged(), "");
  log.worker_ended(1, std::nullopt, "killed by signal Killed");
  const std::string line = logged();
  EXPECT_TRUE(std::regex_search(line, std::regex(R"(^session 1 ended: seconds=0\.\d\d\d )"))) << line;
  EXPECT_CONTAINS(
      line,
      " network-in=11 network-out=22 shared-in=33 shared-out=44 peers-in=55 peers-out=66 kernels=77 "
      "peak-memory=88 transport=- connections=0 rate-in=- rate-out=- peers-transport=- peers-connections=0 "
      "peers-rate-in=- peers-rate-out=- uncounted-workers=1 end=\"a kernel ran too long; a worker exited: "
      "killed by "
      "signal Killed\" client=\"alice\"");
}

TEST_F(SessionLogTest, GivenLinksOfSeveralWorkersThenTheLineNamesTheirWaysAndTheRatesWhileTheyWereUsed) {
  log.begin(1, owner(), 2);
  logged();
  const LinkUsage fast{.streams = 1, .connections = 3, .bulk_in = 3'000'000, .bulk_in_us = 500'000};
  const LinkUsage slow{.shared_memory = 1, .connections = 1, .bulk_in = 1'000'000, .bulk_in_us = 1'500'000};
  const LinkUsage peer{.zeromq = 2, .ucx = 1, .connections = 4, .bulk_out = 10, .bulk_out_us = 3};
  log.worker_ended(1, SessionRecord{"", {}, {fast, peer}}, "");
  log.worker_ended(1, SessionRecord{"", {}, {slow, {}}}, "");
  EXPECT_CONTAINS(logged(),
                  " transport=streams,shared-memory connections=4 rate-in=2000000 rate-out=- "
                  "peers-transport=zeromq,ucx peers-connections=4 peers-rate-in=- peers-rate-out=3333333 ");
}

TEST_F(SessionLogTest, GivenNumbersOfAHostileWorkerThenRatesAreNumbersAllTheSame) {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  log.begin(1, owner(), 2);
  LinkUsage links;
  std::apply([](auto&... number) { ((number = kMost), ...); }, links.fields());
  links.bulk_in_us = 1;
  links.bulk_out = 1;
  log.worker_ended(1, SessionRecord{"", {}, {links, {}}}, "");
  log.worker_ended(1, SessionRecord{"", {}, {{.bulk_in = 5}, {.bulk_in = kMost}}}, "");
  EXPECT_CONTAINS(logged(),
                  " transport=streams,zeromq,ucx,shared-memory connections=18446744073709551615 "
                  "rate-in=1000000000000000000 rate-out=0 peers-transport=- peers-connections=0 "
                  "peers-rate-in=- ");
}

TEST_F(SessionLogTest, GivenGoodbyeToAllWorkersThenThatIsTheEnd) {
  log.begin(1, owner(), 2);
  log.worker_ended(1, SessionRecord{}, "");
  log.worker_ended(1, SessionRecord{}, "");
  EXPECT_CONTAINS(logged(), " uncounted-workers=0 end=\"goodbye\" ");
}

TEST_F(SessionLogTest, GivenAnEndByTheDaemonThenItIsTheReasonAlsoIfTheWorkersCannotSayIt) {
  log.begin(1, owner(), 2);
  log.ends(1, "ended by administrator root");
  log.ends(2, "there is no such session");
  log.worker_ended(1, SessionRecord{"ended by administrator root", {}, {}}, "");
  log.worker_ended(1, std::nullopt, "killed by signal Killed");
  EXPECT_CONTAINS(logged(),
                  " end=\"ended by administrator root; a worker exited: killed by signal Killed\" ");
  EXPECT_TRUE(log.sessions().empty());
}

TEST_F(SessionLogTest, GivenWorkerWithoutSessionThenNothingIsLogged) {
  log.worker_ended(0, std::nullopt, "killed by signal Killed");
  EXPECT_EQ(logged(), "");
}

TEST_F(SessionLogTest, GivenTextOfOthersThenItStaysInItsQuotationMarks) {
  SessionOwner mallory = owner();
  mallory.program = "\" end=\"goodbye\\\n" + std::string(5000, 'x');
  log.begin(1, mallory, 1);
  log.worker_ended(1, SessionRecord{"\" client=\"root", {}, {}}, "");
  const std::string text = logged();
  EXPECT_CONTAINS(text, R"(program="\" end=\"goodbye\\\nxxx)");
  EXPECT_CONTAINS(text, R"( end="\" client=\"root" client="alice")");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  EXPECT_LT(text.size(), 2000U);
}

}  // namespace
}  // namespace clique::daemon
