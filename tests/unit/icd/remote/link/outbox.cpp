// When an outbox sends: at once what is large or flushed, and what has waited while more was appended.
#include "icd/remote/link/outbox.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "icd/remote/link/link_control.hpp"
#include "protocol/transport/line.hpp"

namespace clique::icd::test {
namespace {

using namespace std::chrono_literals;

/// Counts what is sent through it.
class CountingLine final : public protocol::Line {
 public:
  std::size_t batches() const { return batches_; }

  const std::string& endpoint() const override { return endpoint_; }
  bool up() const override { return true; }
  protocol::ConnectionEnd end() override { return protocol::ConnectionEnd::None; }
  int news() override { return -1; }
  int descriptor() const override { return -1; }
  std::chrono::nanoseconds round_trip() const override { return 0ns; }
  void set_resumable(bool /*yes*/) override {}
  void send(protocol::Batch& batch) override {
    ++batches_;
    batch.clear();
  }
  void listen() override {}
  bool receive(protocol::Incoming& /*incoming*/) override { return false; }
  void reconnect() override {}
  void close(int /*linger_ms*/) override {}

 private:
  std::string endpoint_ = "tcp://127.0.0.1:1";
  std::size_t batches_ = 0;
};

class Control final : public LinkControl {
 public:
  void stir() override { ++stirs; }
  void give_up(const std::string& reason) override { FAIL() << reason; }
  std::chrono::milliseconds idle() override { return 1ms; }

  unsigned stirs = 0;
};

class OutboxTest : public testing::Test {
 protected:
  /// Longer than any turn.
  static constexpr auto long_ago = 2 * Outbox::kLastTurn;

  void append() {
    outbox_.compose([](protocol::Batch& batch) { batch.add(protocol::Marker{}); });
  }
  /// Appends two messages, the second one when the first has waited for longer than any turn.
  void append_slowly() {
    append();
    std::this_thread::sleep_for(long_ago);
    append();
  }
  std::size_t sent() const { return line_->batches(); }

  std::shared_ptr<CountingLine> line_ = std::make_shared<CountingLine>();
  Control control_;
  Outbox outbox_{line_, nullptr, control_};
};

TEST_F(OutboxTest, GivenOneMessageThenItWaits) {
  append();
  EXPECT_EQ(0U, sent());
  EXPECT_EQ(1U, control_.stirs);
  outbox_.flush();
  EXPECT_EQ(1U, sent());
}

TEST_F(OutboxTest, GivenAMessageThatHasWaitedThenTheNextOneSendsBoth) {
  append_slowly();
  EXPECT_EQ(1U, sent());
  EXPECT_FALSE(outbox_.pending());
}

TEST_F(OutboxTest, GivenNoFlushThenTurnsGrowUntilTheBackgroundThreadSends) {
  std::size_t before = 0;
  unsigned turns = 0;
  do {
    before = sent();
    append_slowly();
  } while (sent() > before && ++turns < 100);
  EXPECT_GT(turns, 3U);
  EXPECT_LT(turns, 10U);
  EXPECT_TRUE(outbox_.pending());
  outbox_.flush();
  before = sent();
  append_slowly();
  EXPECT_EQ(before + 1, sent());
}

TEST_F(OutboxTest, GivenMuchThenItIsSentAtOnce) {
  unsigned appended = 0;
  for (; sent() == 0 && appended < Outbox::kLargeRecords; ++appended) append();
  EXPECT_LT(appended, Outbox::kLargeRecords);
}

TEST_F(OutboxTest, GivenNothingMoreThenTheBackgroundThreadSends) {
  append();
  outbox_.tend();
  outbox_.tend();
  EXPECT_EQ(1U, sent());
}

TEST_F(OutboxTest, GivenMoreBetweenTwoLooksThenTheBackgroundThreadLeavesIt) {
  // This thread may be kept from running for longer than messages are left.
  for (int attempt = 0; attempt < 1000; ++attempt) {
    outbox_.flush();
    const std::size_t before = sent();
    const auto begin = std::chrono::steady_clock::now();
    append();
    outbox_.tend();
    if (std::chrono::steady_clock::now() - begin >= Outbox::kLastTurn) continue;
    EXPECT_EQ(before, sent());
    return;
  }
  FAIL() << "appending a message always takes longer than messages are left";
}

TEST_F(OutboxTest, GivenMoreAndMoreThenTheBackgroundThreadSendsWhatHasWaited) {
  append();
  std::this_thread::sleep_for(long_ago);
  outbox_.tend();
  EXPECT_EQ(1U, sent());
}

}  // namespace
}  // namespace clique::icd::test
