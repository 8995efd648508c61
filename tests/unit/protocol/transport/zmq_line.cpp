// Lines: one direction of traffic over successive connections.
#include "protocol/transport/zmq_line.hpp"
#include "protocol/transport/repair.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "protocol/messages.hpp"

namespace clique::protocol {
namespace {

using namespace std::chrono_literals;

/// The listening end, played by the test. Returns what arrives one batch at a time.
class Lines : public testing::Test {
 protected:
  Lines() {
    configure(router_);
    router_.bind("tcp://127.0.0.1:*");
    endpoint_ = router_.get(zmq::sockopt::last_endpoint);
  }

  /// The next batch of any sender, as the request numbers of its Finish messages. Stores AttachLine and
  /// Received separately.
  std::vector<RequestId> next() {
    Incoming incoming;
    for (const auto deadline = Clock::now() + 10s; !receive(router_, incoming);)
      if (Clock::now() > deadline) throw std::runtime_error("nothing came");
    last_id_ = incoming.routing_id;
    std::vector<RequestId> numbers;
    struct Handler {
      Lines& lines;
      std::vector<RequestId>& numbers;
      void operator()(AttachLine&& message) { lines.attached_ = message; }
      void operator()(Received&& message) { lines.acknowledged_ = message.batches; }
      void operator()(Finish&& message) { numbers.push_back(message.request); }
    };
    reader_.read(MessageList<AttachLine, Received, Finish>{}, incoming.records, incoming.frames,
                 incoming.owner, Handler{*this, numbers});
    return numbers;
  }
  template <typename M>
  void answer(const M& message) {
    Batch batch;
    batch.add(message);
    protocol::send(router_, batch, last_id_);
  }
  static void send(Line& line, RequestId number) {
    Batch batch;
    batch.add(Finish{number, 1});
    line.send(batch);
  }
  std::unique_ptr<ZmqLine> line(ZmqLine::Direction direction) {
    return std::make_unique<ZmqLine>(zmq_, endpoint_, Pass{}, 5, direction);
  }
  template <typename F>
  static bool eventually(F&& condition) {
    for (const auto deadline = Clock::now() + 60s; !condition(); std::this_thread::sleep_for(1ms))
      if (Clock::now() > deadline) return false;
    return true;
  }

  using Clock = std::chrono::steady_clock;
  zmq::context_t zmq_;
  zmq::socket_t router_{zmq_, zmq::socket_type::router};
  std::string endpoint_;
  BatchReader reader_;
  std::string last_id_;
  AttachLine attached_;
  std::uint64_t acknowledged_ = 0;
};

TEST_F(Lines, GivenAnotherConnectionThenWhatHadNotComeIsSentAgain) {
  const auto line = this->line(ZmqLine::Direction::Outward);
  EXPECT_TRUE(next().empty());
  EXPECT_EQ(attached_.line, 5U);
  EXPECT_FALSE(attached_.to_client);
  for (RequestId i = 0; i < 5; ++i) send(*line, i);
  for (RequestId i = 0; i < 5; ++i) EXPECT_EQ(next(), std::vector{i});
  line->reconnect();
  EXPECT_FALSE(line->up());
  EXPECT_TRUE(next().empty());
  // Batches sent before the answer to AttachLine wait for it.
  send(*line, 5);
  answer(Received{3});
  EXPECT_TRUE(eventually([&] {
    line->listen();
    return line->up();
  }));
  for (RequestId i = 3; i < 6; ++i) EXPECT_EQ(next(), std::vector{i});
}

TEST_F(Lines, GivenAcknowledgementThenNothingOfThatIsKept) {
  const auto line = this->line(ZmqLine::Direction::Outward);
  next();
  std::weak_ptr<const void> kept;
  std::vector<std::byte> content(64 << 10);
  {
    const std::shared_ptr<const void> owner(content.data(), [](const void*) {});
    kept = owner;
    Batch batch;
    batch.add(WriteBuffer{{}, 1, 0, {content, owner}});
    line->send(batch);
  }
  Incoming incoming;
  EXPECT_TRUE(eventually([&] { return receive(router_, incoming); }));
  EXPECT_FALSE(kept.expired());
  answer(Received{1});
  EXPECT_TRUE(eventually([&] {
    line->listen();
    return kept.expired();
  }));
}

TEST_F(Lines, GivenNotResumableThenNothingIsKept) {
  const auto line = this->line(ZmqLine::Direction::Outward);
  line->set_resumable(false);
  next();
  send(*line, 1);
  EXPECT_EQ(next(), std::vector<RequestId>{1});
  line->reconnect();
  next();
  answer(Received{0});
  EXPECT_TRUE(eventually([&] {
    line->listen();
    return line->up();
  }));
  send(*line, 2);
  EXPECT_EQ(next(), std::vector<RequestId>{2});
}

TEST_F(Lines, GivenManyBatchesThenTheyAreAcknowledged) {
  const auto line = this->line(ZmqLine::Direction::Inward);
  next();
  EXPECT_TRUE(attached_.to_client);
  answer(Received{});
  for (RequestId i = 0; i < 100; ++i) answer(Finish{i, 1});
  unsigned came = 0;
  Incoming incoming;
  EXPECT_TRUE(eventually([&] {
    came += line->receive(incoming) ? 1 : 0;
    return came == 100;
  }));
  next();
  EXPECT_GE(acknowledged_, 50U);
  EXPECT_LE(acknowledged_, 100U);
  line->reconnect();
  next();
  EXPECT_EQ(attached_.received, 100U);
}

TEST_F(Lines, GivenAnEndThatIsOverThenItSaysWhy) {
  const auto line = this->line(ZmqLine::Direction::Outward);
  next();
  answer(SessionEnded{"a reason"});
  std::string why;
  EXPECT_TRUE(eventually([&] {
    try {
      line->listen();
    } catch (const ZmqLine::Over& over) {
      why = over.what();
    }
    return !why.empty();
  }));
  EXPECT_NE(why.find("a reason"), std::string::npos) << why;
}

TEST_F(Lines, GivenAcknowledgementsThatCannotBeThenTheyAreRefused) {
  LineSender sender;
  Batch batch;
  batch.add(Finish{1, 1});
  sender.interrupt();
  sender.send(router_, batch);
  EXPECT_THROW(sender.received(2), DecodeError);
  sender.received(1);
  EXPECT_THROW(sender.resume(router_, 0), DecodeError);
}

TEST_F(Lines, GivenNobodyAtThePortThenItIsGivenUpSoon) {
  const auto line = this->line(ZmqLine::Direction::Outward);
  next();
  router_.close();
  Repair repair;
  const auto begin = Clock::now();
  Repair::Advice advice = Repair::Advice::Fine;
  EXPECT_TRUE(eventually([&] {
    advice = repair.look(*line, Clock::now(), 1h);
    if (advice == Repair::Advice::Reconnect) line->reconnect();
    return advice == Repair::Advice::GiveUp;
  }));
  EXPECT_NE(std::string(repair.reason()).find("has exited"), std::string::npos) << repair.reason();
  EXPECT_GT(Clock::now() - begin, 500ms);
}

TEST_F(Lines, GivenSilenceForTooLongThenItIsGivenUp) {
  const auto line = this->line(ZmqLine::Direction::Outward);
  next();
  line->reconnect();
  Repair repair;
  const auto now = Clock::now();
  EXPECT_EQ(repair.look(*line, now, 5s), Repair::Advice::Reconnect);
  EXPECT_EQ(repair.look(*line, now + 1s, 5s), Repair::Advice::Wait);
  EXPECT_EQ(repair.look(*line, now + 3s, 5s), Repair::Advice::Reconnect);
  EXPECT_EQ(repair.look(*line, now + 6s, 5s), Repair::Advice::GiveUp);
}

}  // namespace
}  // namespace clique::protocol
