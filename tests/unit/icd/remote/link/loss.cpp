#include <gtest/gtest.h>
#include <atomic>

#include "unit/icd/remote/fakes.hpp"

namespace clique::icd::test {
namespace {

using namespace std::chrono_literals;

TEST(Loss, IsNoticedAtOnceWhereTheWorkerCloses) {
  Connection c;
  c.worker.on_finish = [](const protocol::Finish&) {};
  c.open();
  std::atomic<int> lost_before{0};
  c.recorder.on_lost = [&] { lost_before = c.link->lost() ? 1 : -1; };
  std::vector<std::thread> threads;
  std::atomic<int> returned{0};
  std::atomic<int> thrown{0};
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      if (!c.link->wait([] { return false; }) && c.recorder.losses.load() == 1) ++returned;
    });
    threads.emplace_back([&] {
      try {
        c.link->request<protocol::Finished>(protocol::Finish{0, 1});
      } catch (const Error& error) {
        if (error.status() == CL_OUT_OF_RESOURCES && *error.what() != 0) ++thrown;
      }
    });
  }
  std::this_thread::sleep_for(50ms);
  c.worker.hang_up();
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(returned.load(), 3);
  EXPECT_EQ(thrown.load(), 3);
  EXPECT_EQ(c.recorder.losses.load(), 1);
  EXPECT_EQ(lost_before.load(), 1);
  EXPECT_NE(c.recorder.why().find("closed"), std::string::npos) << c.recorder.why();
  EXPECT_EQ(c.link->loss(), c.recorder.why());
}

TEST(Loss, IsNoticedWhileNobodyWaits) {
  Connection c;
  c.worker.on_finish = [](const protocol::Finish&) {};
  c.open();
  std::atomic<int> failures{0};
  c.link->request<protocol::Finished>(
      protocol::Finish{0, 1},
      Link::Answer<protocol::Finished>([&](protocol::Finished* reply, const std::string& why) {
        if (!reply && !why.empty() && c.recorder.losses.load() == 1) ++failures;
      }));
  std::this_thread::sleep_for(50ms);
  c.worker.hang_up();
  EXPECT_TRUE(eventually([&] { return failures.load() == 1; }));
  EXPECT_EQ(c.recorder.losses.load(), 1);
}

TEST(Loss, TellsTheWorkersReason) {
  for (int round = 0; round < 10; ++round) {
    Connection c;
    c.open();
    c.worker.run([&] {
      c.worker.reply(protocol::EventState{5, 0, {}});
      c.worker.reply(protocol::SessionEnded{"a rule was broken"});
    });
    if (round % 2 == 0) c.worker.hang_up();
    EXPECT_TRUE(eventually([&] { return c.recorder.losses.load() == 1; }));
    EXPECT_EQ(c.recorder.why(), "node fake: the worker ended the session: a rule was broken");
    EXPECT_EQ(c.recorder.last_state.load(), 5U);
  }
}

TEST(Loss, FollowsWhatCannotBeUnderstood) {
  const std::vector<std::string> bad{
      "\xc1",                                                               // not msgpack
      std::string("\x91\xcd\x03\xe7", 4),                                   // an unknown message number
      std::string("\x92\x7d\x01", 3),                                       // too few fields
      std::string("\x93\x7e\xcf\x00\x00\x00\x00\x00\x00\x00\x63\x00", 12),  // an answer to no request
  };
  for (const auto& records : bad) {
    Connection c;
    c.open();
    c.worker.run([&] { c.worker.reply_raw(records); });
    EXPECT_FALSE(c.link->wait([] { return false; }));
    EXPECT_EQ(c.recorder.losses.load(), 1);
    EXPECT_NE(c.recorder.why().find("cannot be understood"), std::string::npos) << c.recorder.why();
  }
}

TEST(Loss, FollowsAnAnswerOfTheWrongKind) {
  Connection c;
  c.worker.on_finish = [&](const protocol::Finish& finish) {
    c.worker.reply(protocol::ClockSynced{finish.request, 0});
  };
  c.open();
  EXPECT_THROW(c.link->request<protocol::Finished>(protocol::Finish{0, 1}), Error);
  EXPECT_TRUE(c.link->lost());
}

/// The worker closes its connections while a callback runs, which then waits.
struct LossInACallback : Connection {
  LossInACallback() {
    recorder.on_state = [this](const protocol::EventState&) {
      worker.hang_up();
      nested = link->wait([] { return false; }) ? 1 : 0;
    };
    open();
    worker.run([this] { worker.reply(protocol::EventState{1, 0, {}}); });
  }
  // The callback uses `nested`, and may run as long as the link exists.
  ~LossInACallback() { link.reset(); }
  std::atomic<int> nested{-1};  // the result of the callback's wait
};

TEST(Loss, OfACallbacksOwnWaitEndsIt) {
  LossInACallback c;
  EXPECT_FALSE(c.link->wait([] { return false; }));
  // Any thread may have run the callback.
  EXPECT_TRUE(eventually([&] { return c.nested.load() == 0; }));
  EXPECT_EQ(c.recorder.losses.load(), 1);
}

TEST(Loss, EndsAWaitOnTheReactorsThread) {
  LossInACallback c;
  // No other thread receives.
  EXPECT_TRUE(eventually([&] { return c.nested.load() == 0; }));
  EXPECT_EQ(c.recorder.losses.load(), 1);
}

TEST(Loss, IsNoticedWhileACallbackWaitsForAnotherLink) {
  Connection waited_for;
  Connection lost;
  std::atomic<bool> waiting{false};
  std::atomic<bool> go_on{false};
  std::atomic<bool> went_on{false};
  waited_for.recorder.on_state = [&](const protocol::EventState&) {
    waiting = true;
    waited_for.link->wait([&] { return go_on.load(); });
    went_on = true;
  };
  waited_for.open();
  lost.open();
  waited_for.worker.run([&] { waited_for.worker.reply(protocol::EventState{1, 0, {}}); });
  ASSERT_TRUE(eventually([&] { return waiting.load(); }));
  lost.worker.hang_up();
  EXPECT_FALSE(lost.link->wait([] { return false; }));
  EXPECT_EQ(lost.recorder.losses.load(), 1);
  EXPECT_FALSE(went_on.load());
  go_on = true;
  EXPECT_TRUE(eventually([&] { return went_on.load(); }));
}

TEST(Loss, BeforeStartIsToldAtStart) {
  Connection c;
  c.link = std::make_unique<Link>(c.zmq, c.worker.endpoint(), kPatience);
  c.worker.hang_up();
  EXPECT_TRUE(eventually([&] { return c.link->lost(); }));
  c.link->start(c.recorder);
  EXPECT_EQ(c.recorder.losses.load(), 1);
}

TEST(Loss, OfASilentWorkerIsNoticedAndFreesPayloads) {
  FakeWorker worker;
  Proxy commands(worker.commands_port());
  Proxy reports(worker.reports_port());
  auto endpoint = worker.endpoint();
  endpoint.commands = "tcp://127.0.0.1:" + std::to_string(commands.port());
  endpoint.reports = "tcp://127.0.0.1:" + std::to_string(reports.port());
  protocol::ZmqContext zmq(1);
  Recorder recorder;
  auto memory = std::make_shared<std::vector<std::byte>>(64U << 20U);
  long holders_at_loss = -1;
  recorder.on_lost = [&] { holders_at_loss = memory.use_count(); };
  Link link(zmq, endpoint, kPatience);
  link.start(recorder);
  commands.freeze();
  reports.freeze();
  for (std::size_t offset = 0; offset < memory->size(); offset += protocol::kMaxPayload)
    link.post(protocol::WriteBuffer{
        {1, 1, 0, {}}, 1, offset, {std::span(memory->data() + offset, protocol::kMaxPayload), memory}});
  EXPECT_GT(memory.use_count(), 1);
  EXPECT_FALSE(link.wait([] { return false; }));
  EXPECT_NE(recorder.why().find("stopped answering"), std::string::npos) << recorder.why();
  EXPECT_EQ(holders_at_loss, 1);
  EXPECT_EQ(recorder.losses.load(), 1);
}

TEST(Loss, ByCloseFreesPayloadsOfASilentWorker) {
  FakeWorker worker;
  Proxy commands(worker.commands_port());
  auto endpoint = worker.endpoint();
  endpoint.commands = "tcp://127.0.0.1:" + std::to_string(commands.port());
  protocol::ZmqContext zmq(1);
  Recorder recorder;
  auto memory = std::make_shared<std::vector<std::byte>>(protocol::kMaxPayload);
  Link link(zmq, endpoint, kPatience);
  link.start(recorder);
  commands.freeze();
  for (int i = 0; i < 4; ++i)
    link.post(
        protocol::WriteBuffer{{1, 1, 0, {}}, 1, 0, {std::span(memory->data(), memory->size()), memory}});
  link.close();
  EXPECT_EQ(memory.use_count(), 1);
  EXPECT_NE(link.loss().find("the session was closed"), std::string::npos) << link.loss();
}

TEST(Opening, FailsAtOnceWhereNobodyListens) {
  WorkerEndpoint endpoint;
  {
    FakeWorker worker;
    endpoint = worker.endpoint();
  }
  protocol::ZmqContext zmq(1);
  try {
    Link link(zmq, endpoint, kPatience);
    FAIL() << "connected to nothing";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), CL_DEVICE_NOT_AVAILABLE);
    EXPECT_NE(std::string(error.what()).find("refused"), std::string::npos) << error.what();
  }
}

TEST(Opening, FailsInTimeWhereNobodyAnswers) {
  FakeWorker worker;
  Proxy commands(worker.commands_port());
  commands.freeze();
  auto endpoint = worker.endpoint();
  endpoint.commands = "tcp://127.0.0.1:" + std::to_string(commands.port());
  protocol::ZmqContext zmq(1);
  EXPECT_THROW(Link(zmq, endpoint, 300ms), Error);
}

TEST(Opening, FailsInTimeWhereTheClockIsNotTold) {
  // Of the first exchange, or of a later one.
  for (const int answered : {0, 1}) {
    Connection c;
    std::atomic<int> asked = 0;
    c.worker.on_clock = [&](const protocol::SyncClock& message) {
      if (asked++ < answered) c.worker.reply(protocol::ClockSynced{message.request, 0});
    };
    c.worker.run([] {});
    try {
      const Link link(c.zmq, c.worker.endpoint(), 300ms);
      // All exchanges may have taken too long for a second one.
      EXPECT_EQ(answered, 1);
      EXPECT_EQ(asked, 1);
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), CL_DEVICE_NOT_AVAILABLE);
      EXPECT_NE(std::string(error.what()).find("did not answer within 300 ms"), std::string::npos)
          << error.what();
    }
  }
}

TEST(Silence, EndsARequestWithALimit) {
  Connection c;
  std::vector<protocol::RequestId> unanswered;
  c.worker.on_finish = [&](const protocol::Finish& finish) { unanswered.push_back(finish.request); };
  c.open();
  try {
    c.link->request<protocol::Finished>(protocol::Finish{0, 1}, 200ms);
    FAIL() << "an answer that nobody gave";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), CL_OUT_OF_RESOURCES);
    EXPECT_NE(std::string(error.what()).find("node fake did not answer within 200 ms"), std::string::npos)
        << error.what();
  }
  // An answer that comes late does no harm.
  c.worker.run([&] {
    for (const auto request : unanswered) c.worker.reply(protocol::Finished{request, 0});
  });
  c.worker.on_finish = {};
  c.worker.run([] {});
  EXPECT_EQ(c.link->request<protocol::Finished>(protocol::Finish{0, 1}).status, 0);
}

}  // namespace
}  // namespace clique::icd::test
