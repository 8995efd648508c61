// Which thread runs deferred tasks (Errand) while several threads wait.
#include <gtest/gtest.h>

#include "unit/icd/remote/fakes.hpp"

namespace clique::icd::test {
namespace {

using namespace std::chrono_literals;

/// For each marker, the worker pushes a part and then reports that the marker has completed. Handling the
/// part is an errand.
class Errands : public testing::Test {
 protected:
  void SetUp() override {
    c_.worker.on_marker = [this](const protocol::Marker& marker) {
      protocol::Batch batch;
      batch.add(protocol::PeerData{marker.command.id, 0, 0, {}});
      batch.add(protocol::EventState{marker.command.id, 0, {}});
      c_.worker.reply(batch);
    };
    c_.recorder.on_state = [this](const protocol::EventState& state) { ended_[state.command] = true; };
    c_.recorder.on_pushed = [this](const protocol::PeerData& part) {
      c_.link->run({[this] {
                      if (run_) run_();
                      runner_ = std::this_thread::get_id();
                    },
                    [this, id = part.transfer] { settled_[id] = true; }});
    };
    c_.open();
  }
  void post(std::uint64_t id) { c_.link->post(protocol::Marker{{id, 1, 0, {}}}); }

  std::function<void()> run_;  ///< called by each errand
  std::atomic<std::thread::id> runner_{};
  std::array<std::atomic<bool>, 2000> ended_{};
  std::array<std::atomic<bool>, 2000> settled_{};
  Connection c_;  // uses the members above
};

TEST_F(Errands, GivenOneThreadThenItDoesThem) {
  bool posted = false;
  EXPECT_TRUE(c_.link->wait([&] {
    // Not earlier, because the reactor runs the errand if no thread waits.
    if (!std::exchange(posted, true)) post(1);
    return settled_[1].load();
  }));
  EXPECT_EQ(std::this_thread::get_id(), runner_.load());
}

TEST_F(Errands, GivenThreadsThatWaitThenTheOneThatHasWaitedLongestDoesThem) {
  std::atomic<bool> over{false};
  std::atomic<bool> waiting{false};
  std::thread first([&] {
    c_.link->wait([&] {
      waiting = true;
      return over.load();
    });
  });
  const auto waiting_first = first.get_id();
  EXPECT_TRUE(eventually([&] { return waiting.load(); }));
  for (std::uint64_t id = 1; id <= 200; ++id) {
    // The errand does not end before the other thread has received the report behind the part.
    run_ = [&, id] { EXPECT_TRUE(eventually([&] { return ended_[id].load(); })) << id; };
    bool posted = false;
    EXPECT_TRUE(c_.link->wait([&] {
      // From here on this thread counts as waiting.
      if (!std::exchange(posted, true)) post(id);
      return ended_[id].load();
    }));
    EXPECT_TRUE(c_.link->wait([&] { return settled_[id].load(); }));
    EXPECT_EQ(waiting_first, runner_.load()) << id;
  }
  over = true;
  first.join();
}

TEST_F(Errands, GivenManyThreadsThenAllAreDone) {
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (std::uint64_t t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 1; i <= 200; ++i) {
        const std::uint64_t id = t * 200 + i;
        post(id);
        if (c_.link->wait([&] { return settled_[id].load() && ended_[id].load(); })) ++right;
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(1600, right.load());
}

TEST_F(Errands, GivenWaitWithinWhatFollowsOneThenOthersAreDoneMeanwhile) {
  std::atomic<bool> inner{false};
  c_.recorder.on_state = [&](const protocol::EventState& state) {
    ended_[state.command] = true;
    if (state.command != 1) return;
    post(2);
    inner = c_.link->wait([&] { return settled_[2].load(); });
  };
  std::thread other([&] { c_.link->wait([&] { return ended_[1].load() && inner.load(); }); });
  post(1);
  EXPECT_TRUE(c_.link->wait([&] { return ended_[1].load() && inner.load(); }));
  other.join();
}

TEST_F(Errands, GivenLossThenNoneIsUnderWayWhenItIsTold) {
  std::atomic<bool> running{false};
  std::atomic<bool> told_while_running{false};
  c_.recorder.on_lost = [&] { told_while_running = running.load(); };
  run_ = [&] {
    running = true;
    std::this_thread::sleep_for(100ms);
    running = false;
  };
  std::atomic<bool> waiting{false};
  std::thread first([&] {
    EXPECT_FALSE(c_.link->wait([&] {
      waiting = true;
      return false;
    }));
  });
  EXPECT_TRUE(eventually([&] { return waiting.load(); }));
  post(1);
  EXPECT_TRUE(c_.link->wait([&] { return ended_[1].load(); }));
  c_.worker.hang_up();
  EXPECT_FALSE(c_.link->wait([] { return false; }));
  first.join();
  EXPECT_TRUE(settled_[1].load());
  EXPECT_FALSE(told_while_running.load());
}

}  // namespace
}  // namespace clique::icd::test
