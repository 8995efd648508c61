// The threads for files, and work that is done one after the other on them.
#include "daemon/worker/transfers/file_threads.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <memory>
#include <vector>

namespace clique::daemon {
namespace {

constexpr int kPieces = 1000;

TEST(FileThreads, GivenTwoPiecesThenTheyAreDoneAtTheSameTime) {
  FileThreads threads;
  std::latch both(2), done(2);
  for (int i = 0; i < 2; ++i)
    threads.post([&] {
      both.arrive_and_wait();
      done.count_down();
    });
  done.wait();
}

TEST(FileTurns, GivenManyPiecesThenEachFollowsTheOneBefore) {
  FileThreads threads;
  const auto turns = std::make_shared<FileTurns>(threads);
  std::vector<int> order;
  std::atomic<int> under_way = 0, at_once = 0;
  std::latch done(kPieces);
  for (int i = 0; i < kPieces; ++i)
    turns->post([&, i] {
      if (++under_way > 1) ++at_once;
      order.push_back(i);
      --under_way;
      done.count_down();
    });
  done.wait();
  EXPECT_EQ(at_once, 0);
  for (int i = 0; i < kPieces; ++i) ASSERT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(FileTurns, GivenPieceThatWaitsThenThoseOfOthersAreDone) {
  FileThreads threads;
  const auto one = std::make_shared<FileTurns>(threads), other = std::make_shared<FileTurns>(threads);
  std::latch gate(1), done(3);
  one->post([&] {
    gate.wait();
    done.count_down();
  });
  one->post([&] { done.count_down(); });
  other->post([&] {
    gate.count_down();
    done.count_down();
  });
  done.wait();
}

TEST(FileTurns, GivenPieceThatPostsAnotherOneWhenItIsReleasedThenBothAreDone) {
  FileThreads threads;
  const auto turns = std::make_shared<FileTurns>(threads);
  std::latch done(1);
  std::shared_ptr<const void> last(&done, [&](const void*) { turns->post([&] { done.count_down(); }); });
  turns->post([last = std::move(last)] {});
  done.wait();
}

}  // namespace
}  // namespace clique::daemon
