// Connections that a worker has its daemon make.
#include "daemon/worker/connections/dial_requests.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <vector>

namespace clique::daemon {
namespace {

using protocol::DialFailed;
using protocol::Dialling;

class WorkerDials : public testing::Test {
 protected:
  std::unique_ptr<Dialling> begin(protocol::LineId line = 1) {
    protocol::StreamRequest request;
    request.line = line;
    request.attempt = 2;
    request.received = 3;
    request.content = protocol::StreamRequest::Content::Batches;
    return dials_.begin(target_, request);
  }
  void fail(std::uint64_t number, DialFailed::Kind kind) {
    Notice notice{Notice::Kind::Dialled, "the reason"};
    notice.status = static_cast<std::int32_t>(kind);
    notice.request = to_bytes(DialAnswer{.number = number});
    dials_.answered(notice, {});
  }
  static bool ready(const Dialling& dialling) {
    pollfd item{dialling.fd(), dialling.events(), 0};
    return ::poll(&item, 1, 0) == 1;
  }

  protocol::StreamTarget target_{.endpoint = "tcp://host:1",
                                 .secret = {1, 2, 3},
                                 .encryption = protocol::Encryption::Commands,
                                 .known = {.headers = true}};
  std::vector<DialRequest> asked_;
  DialRequests dials_{[this](const DialRequest& request) { asked_.push_back(request); }};
};

TEST_F(WorkerDials, AskWhatTheTargetSays) {
  const auto dialling = begin(9);
  ASSERT_EQ(asked_.size(), 1U);
  EXPECT_EQ(asked_[0].endpoint, target_.endpoint);
  EXPECT_EQ(asked_[0].secret, target_.secret);
  EXPECT_EQ(asked_[0].encryption, target_.encryption);
  EXPECT_EQ(asked_[0].known.headers, target_.known.headers);
  EXPECT_EQ(asked_[0].known.pieces, target_.known.pieces);
  EXPECT_EQ(asked_[0].content, protocol::StreamRequest::Content::Batches);
  EXPECT_EQ(asked_[0].line, 9U);
  EXPECT_EQ(asked_[0].attempt, 2U);
  EXPECT_EQ(asked_[0].received, 3U);
  EXPECT_TRUE(dials_.waiting());
}

TEST_F(WorkerDials, BringTheConnection) {
  const auto dialling = begin();
  EXPECT_FALSE(ready(*dialling));
  EXPECT_FALSE(dialling->step());
  Notice notice{Notice::Kind::Dialled, ""};
  DialAnswer answer{.number = asked_.at(0).number, .received = 5};
  answer.to_worker.fill(1);
  answer.from_worker.fill(2);
  notice.request = to_bytes(answer);
  Fd socket(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int number = socket.get();
  dials_.answered(notice, std::move(socket));
  EXPECT_TRUE(ready(*dialling));
  ASSERT_TRUE(dialling->step());
  const protocol::Dialled dialled = dialling->take();
  EXPECT_EQ(dialled.socket.get(), number);
  EXPECT_EQ(dialled.keys.to_worker, answer.to_worker);
  EXPECT_EQ(dialled.keys.from_worker, answer.from_worker);
  EXPECT_EQ(dialled.received, 5U);
  EXPECT_FALSE(dials_.waiting());
}

TEST_F(WorkerDials, TellWhyThereIsNone) {
  const auto dialling = begin();
  fail(asked_.at(0).number, DialFailed::Kind::Gone);
  EXPECT_TRUE(ready(*dialling));
  try {
    dialling->step();
    FAIL() << "it goes on";
  } catch (const DialFailed& error) {
    EXPECT_EQ(error.kind(), DialFailed::Kind::Gone);
    EXPECT_STREQ(error.what(), "the reason");
  }
}

TEST_F(WorkerDials, AskForALimitedNumberAtATime) {
  std::vector<std::unique_ptr<Dialling>> all;
  for (std::size_t i = 0; i < kMostDials + 2; ++i) all.push_back(begin());
  EXPECT_EQ(asked_.size(), kMostDials);
  // One that nobody wants any more keeps its place until the answer, and one that was not asked for is
  // forgotten.
  all.erase(all.begin());
  all.erase(all.begin() + kMostDials - 1);
  EXPECT_EQ(asked_.size(), kMostDials);
  fail(asked_.at(0).number, DialFailed::Kind::Other);
  ASSERT_EQ(asked_.size(), kMostDials + 1);
  EXPECT_EQ(asked_.back().number, kMostDials + 2);
  for (std::size_t i = 1; i < asked_.size(); ++i) fail(asked_[i].number, DialFailed::Kind::Other);
  EXPECT_FALSE(dials_.waiting());
  for (const auto& dialling : all) EXPECT_TRUE(ready(*dialling));
}

TEST_F(WorkerDials, IgnoreAnswersToWhatWasNotAsked) {
  fail(99, DialFailed::Kind::Other);
  const auto dialling = begin();
  EXPECT_FALSE(ready(*dialling));
}

}  // namespace
}  // namespace clique::daemon
