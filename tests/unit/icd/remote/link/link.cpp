#include <gtest/gtest.h>

#include "icd/remote/link/reactor.hpp"
#include "unit/icd/remote/fakes.hpp"

namespace clique::icd::test {
namespace {

using namespace std::chrono_literals;

protocol::Marker marker(std::uint64_t id, std::uint64_t queue = 1) {
  return {{id, queue, 0, {}}};
}

TEST(Link, KnowsTheWorkerAndItsClock) {
  constexpr std::int64_t kAhead = 5'000'000'000;
  Connection c(kAhead);
  c.open();
  ASSERT_EQ(c.link->attached().platform.size(), 1U);
  EXPECT_EQ(c.link->attached().platform[0].name, 0x0902U);
  // If the host is busy, answers are late, and the offset is wrong by half of the delay.
  EXPECT_NEAR(static_cast<double>(c.link->clock_offset()), static_cast<double>(kAhead), 1e9);
  EXPECT_FALSE(c.link->lost());
  EXPECT_EQ(c.link->loss(), "");
}

TEST(Link, AnswersARequest) {
  Connection c;
  c.worker.on_finish = [&](const protocol::Finish& finish) {
    c.worker.reply(protocol::Finished{finish.request, static_cast<std::int32_t>(finish.queue)});
  };
  c.open();
  for (int i = 1; i <= 100; ++i) {
    const auto reply =
        c.link->request<protocol::Finished>(protocol::Finish{0, static_cast<std::uint64_t>(i)});
    EXPECT_EQ(reply.status, i);
  }
}

TEST(Link, PairsAnswersThatComeInAnotherOrder) {
  std::vector<protocol::Finish> held;
  Connection c;  // its worker's thread uses the variables above
  c.worker.on_finish = [&](const protocol::Finish& finish) {
    held.push_back(finish);
    if (held.size() < 10) return;
    for (auto one = held.rbegin(); one != held.rend(); ++one)
      c.worker.reply(protocol::Finished{one->request, static_cast<std::int32_t>(one->queue)});
    held.clear();
  };
  c.open();
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int i = 0; i < 10; ++i)
    threads.emplace_back([&, i] {
      for (int round = 0; round < 50; ++round) {
        const auto queue = std::uint64_t{1000} * i + round;
        if (c.link->request<protocol::Finished>(protocol::Finish{0, queue}).status == static_cast<int>(queue))
          ++right;
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right.load(), 500);
}

TEST(Link, ServesManyWaitingThreads) {
  Connection c;
  c.worker.on_marker = [&](const protocol::Marker& one) {
    c.worker.reply(protocol::EventState{one.command.id, 0, {}});
  };
  std::array<std::atomic<bool>, 8001> ended{};
  c.recorder.on_state = [&](const protocol::EventState& state) { ended[state.command].store(true); };
  c.open();
  std::vector<std::thread> threads;
  std::atomic<int> waited{0};
  for (std::uint64_t t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 1; i <= 1000; ++i) {
        const std::uint64_t id = t * 1000 + i;
        c.link->post(marker(id));
        if (i % 5 == 0 && c.link->wait([&] { return ended[id].load(); })) ++waited;
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(waited.load(), 1600);
  EXPECT_EQ(c.recorder.losses.load(), 0);
  EXPECT_TRUE(eventually([&] { return c.recorder.states.load() == 8000; }));
}

TEST(Link, KeepsTheOrderOfEveryThreadAndTheTogethernessOfCompose) {
  Connection c;
  std::map<std::uint64_t, std::uint64_t> last;
  std::atomic<int> wrong{0};
  std::atomic<int> got{0};
  std::uint64_t pair_of = 0;
  c.worker.on_marker = [&](const protocol::Marker& one) {
    // The first marker of a pair is on queue 100 + thread, the second on queue thread.
    const auto queue = one.command.queue;
    if (queue >= 100) {
      pair_of = queue - 100;
      return;
    }
    if (pair_of != queue || one.command.id != ++last[queue]) ++wrong;
    ++got;
  };
  c.open();
  std::vector<std::thread> threads;
  for (std::uint64_t t = 1; t <= 4; ++t)
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 1; i <= 5000; ++i) {
        c.link->compose([&](protocol::Batch& batch) {
          batch.add(marker(i, 100 + t));
          batch.add(marker(i, t));
        });
        if (i % 97 == 0) c.link->flush();
      }
    });
  for (auto& thread : threads) thread.join();
  c.link->request<protocol::Finished>(protocol::Finish{0, 1});
  EXPECT_EQ(got.load(), 20000);
  EXPECT_EQ(wrong.load(), 0);
}

/// Distinguishes what happens at once from what only the next heartbeat, a second later, brings about. On a
/// busy machine a few of the former may be late, too.
class Promptness {
 public:
  /// Waits until a condition holds.
  template <typename F>
  bool holds(F&& condition) {
    ++waits_;
    if (eventually(condition, 500ms)) return true;
    ++late_;
    return eventually(condition);
  }
  bool usual() const { return late_ * 4 < waits_; }

 private:
  int waits_ = 0;
  int late_ = 0;
};

TEST(Link, SendsByItself) {
  Connection c;
  std::atomic<bool> arrived{false};
  c.worker.on_marker = [&](const protocol::Marker&) { arrived = true; };
  c.open();
  Promptness prompt;
  for (int i = 0; i < 10; ++i) {
    std::this_thread::sleep_for(20ms);  // until the reactor sleeps
    arrived = false;
    c.link->post(marker(1));
    EXPECT_TRUE(prompt.holds([&] { return arrived.load(); }));
  }
  EXPECT_TRUE(prompt.usual());
}

TEST(Link, DeliversWhileNobodyWaits) {
  Connection c;
  c.worker.on_marker = [&](const protocol::Marker& one) {
    c.worker.reply(protocol::EventState{one.command.id, 0, {}});
  };
  c.open();
  Promptness prompt;
  for (std::uint64_t i = 1; i <= 20; ++i) {
    if (i % 4 == 0) std::this_thread::sleep_for(15ms);
    if (i % 3 == 0)
      c.link->request<protocol::Finished>(protocol::Finish{0, 1});  // a thread has just received
    c.link->post(marker(i));
    c.link->flush();
    EXPECT_TRUE(prompt.holds([&] { return c.recorder.last_state.load() == i; }));
  }
  EXPECT_TRUE(prompt.usual());
  // Without a message from the client.
  std::this_thread::sleep_for(20ms);
  c.worker.run([&] { c.worker.reply(protocol::EventState{77, 0, {}}); });
  EXPECT_TRUE(eventually([&] { return c.recorder.last_state.load() == 77; }));
}

TEST(Link, TakesAnAnswerWithoutAWaitingThread) {
  Connection c;
  c.open();
  std::atomic<int> status{-1};
  c.link->request<protocol::Finished>(
      protocol::Finish{0, 1},
      Link::Answer<protocol::Finished>(
          [&](protocol::Finished* reply, const std::string&) { status = reply ? reply->status : -2; }));
  EXPECT_TRUE(eventually([&] { return status.load() == 0; }));
}

TEST(Link, LooksAgainAtWhatOthersBringAbout) {
  Connection c;
  c.open();
  std::atomic<bool> set{false};
  std::thread other([&] {
    std::this_thread::sleep_for(30ms);
    set = true;
  });
  EXPECT_TRUE(c.link->wait([&] { return set.load(); }));
  other.join();
}

TEST(Link, CarriesPayloads) {
  Connection c;
  std::atomic<std::size_t> bytes{0};
  std::atomic<bool> same{true};
  c.worker.on_write = [&](const protocol::WriteBuffer& write) {
    for (const std::byte b : write.data.bytes)
      if (b != std::byte{7}) same = false;
    bytes += write.data.bytes.size();
  };
  c.open();
  auto owner = std::make_shared<std::vector<std::byte>>(1U << 20U, std::byte{7});
  for (const std::size_t size :
       {std::size_t{3}, protocol::kInlinePayload, protocol::kInlinePayload + 1, owner->size()})
    c.link->post(protocol::WriteBuffer{{1, 1, 0, {}}, 1, 0, {std::span(owner->data(), size), owner}});
  c.link->request<protocol::Finished>(protocol::Finish{0, 1});
  EXPECT_EQ(bytes.load(), 3 + 2 * protocol::kInlinePayload + 1 + owner->size());
  EXPECT_TRUE(same.load());
  EXPECT_TRUE(eventually([&] { return owner.use_count() == 1; }));
}

TEST(Link, LetsACallbackWait) {
  Connection c;
  c.worker.on_marker = [&](const protocol::Marker& one) {
    c.worker.reply(protocol::EventState{one.command.id, 0, {}});
  };
  std::atomic<int> answered{0};
  c.recorder.on_state = [&](const protocol::EventState& state) {
    if (state.command > 3) return;
    // Callbacks must not wait; this one does, nested three times.
    c.link->post(marker(state.command + 1));
    if (c.link->request<protocol::Finished>(protocol::Finish{0, 1}).status == 0) ++answered;
  };
  c.open();
  c.link->post(marker(1));
  EXPECT_TRUE(c.link->wait([&] { return answered.load() == 3; }));
  // The same on the reactor's thread.
  c.worker.run([&] { c.worker.reply(protocol::EventState{3, 0, {}}); });
  EXPECT_TRUE(eventually([&] { return answered.load() == 4; }));
}

TEST(Link, LetsACallbackWaitForWhatIsInTheSameBatch) {
  Connection c;
  std::atomic<bool> second{false};
  std::atomic<bool> nested{false};
  c.recorder.on_state = [&](const protocol::EventState& state) {
    if (state.command == 1) nested = c.link->wait([&] { return second.load(); });
    if (state.command == 2) second = true;
  };
  c.open();
  c.worker.run([&] {
    protocol::Batch batch;
    batch.add(protocol::EventState{1, 0, {}});
    batch.add(protocol::EventState{2, 0, {}});
    batch.add(protocol::EventState{3, 0, {}});
    c.worker.reply(batch);
  });
  EXPECT_TRUE(c.link->wait([&] { return c.recorder.states.load() == 3; }));
  EXPECT_TRUE(nested.load());
}

TEST(Link, SaysGoodbye) {
  Connection c;
  std::atomic<bool> gone{false};
  c.worker.on_goodbye = [&] { gone = true; };
  c.open();
  c.link->close();
  EXPECT_TRUE(eventually([&] { return gone.load(); }));
  EXPECT_TRUE(c.link->lost());
  EXPECT_EQ(c.recorder.losses.load(), 0);
  c.link->post(marker(1));
  c.link->flush();
  EXPECT_FALSE(c.link->wait([] { return false; }));
  EXPECT_THROW(c.link->request<protocol::Finished>(protocol::Finish{0, 1}), Error);
  c.link->close();
}

TEST(Link, ClosesWhileOthersWait) {
  Connection c;
  c.open();
  std::vector<std::thread> threads;
  std::atomic<int> returned{0};
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      if (!c.link->wait([] { return false; })) ++returned;
    });
  std::this_thread::sleep_for(20ms);
  c.link->close();
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(returned.load(), 4);
}

/// Whether the reactor wakes up at most once in that time.
bool sleeps_for(std::chrono::milliseconds time) {
  const auto before = Reactor::instance().wakeups();
  std::this_thread::sleep_for(time);
  return Reactor::instance().wakeups() - before <= 1;
}

TEST(Reactor, SleepsWhileNothingHappens) {
  Connection c;
  c.open();
  c.link->request<protocol::Finished>(protocol::Finish{0, 1});
  EXPECT_TRUE(eventually([] { return sleeps_for(1500ms); }));
}

TEST(Reactor, SleepsDuringALongWait) {
  Connection c;
  c.open();
  std::atomic<bool> done{false};
  std::thread waiter([&] { c.link->wait([&] { return done.load(); }); });
  EXPECT_TRUE(eventually([] { return sleeps_for(1000ms); }));
  done = true;
  waiter.join();
}

}  // namespace
}  // namespace clique::icd::test
