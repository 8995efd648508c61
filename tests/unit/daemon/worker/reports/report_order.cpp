// Reports come out in the order of dependencies, whatever the order in which they fall due.
#include "daemon/worker/reports/report_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>

#include "daemon/worker/reports/reporter.hpp"
#include "unit/daemon/worker/reports/reporter_fixture.hpp"

namespace clique::daemon {
namespace {

class Order : public WithReporter {
 protected:
  ReportOrder order_{reporter_};
  std::vector<int> out_;

  ReportOrder::EntryRef expect(std::vector<ReportOrder::EntryRef> after) { return order_.expect(after); }
  void due(const ReportOrder::EntryRef& entry, int number) {
    order_.due(entry, [this, number] { out_.push_back(number); });
  }
};

TEST_F(Order, GivenChainThenLaterOnesWait) {
  const auto a = expect({});
  const auto b = expect({a});
  const auto c = expect({b, nullptr});
  due(c, 3);
  due(b, 2);
  EXPECT_TRUE(out_.empty());
  EXPECT_FALSE(order_.is_out(c));
  due(a, 1);
  EXPECT_EQ(out_, (std::vector<int>{1, 2, 3}));
  EXPECT_TRUE(order_.is_out(c));
  // After one that is out, nothing waits.
  due(expect({a, c}), 4);
  EXPECT_EQ(out_.back(), 4);
}

TEST_F(Order, GivenFollowerThenLaterOnesWaitForWhatItFollows) {
  const auto a = expect({});
  const auto b = expect({});
  const auto follower = order_.follow(std::vector{a, b});
  due(expect({follower}), 3);
  due(b, 2);
  EXPECT_FALSE(order_.is_out(follower));
  EXPECT_EQ(out_, std::vector<int>{2});
  due(a, 1);
  EXPECT_EQ(out_, (std::vector<int>{2, 1, 3}));
  EXPECT_EQ(order_.follow(std::vector{a, follower}), nullptr);
}

TEST_F(Order, GivenRandomGraphThenNobodyComesBeforeWhatHeWaitsFor) {
  std::mt19937 random(5);
  constexpr int kCount = 2000;
  std::vector<ReportOrder::EntryRef> entries;
  std::vector<std::vector<int>> after(kCount);
  for (int i = 0; i < kCount; ++i) {
    std::vector<ReportOrder::EntryRef> before;
    for (unsigned j = 0; i > 0 && j < random() % 4; ++j) {
      after[i].push_back(static_cast<int>(random() % static_cast<unsigned>(i)));
      before.push_back(entries[after[i].back()]);
    }
    entries.push_back(expect(before));
  }
  std::vector<int> sequence(kCount);
  for (int i = 0; i < kCount; ++i) sequence[i] = i;
  std::shuffle(sequence.begin(), sequence.end(), random);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = t; i < kCount; i += 4) due(entries[sequence[i]], sequence[i]);
    });
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(out_.size(), static_cast<std::size_t>(kCount));
  std::vector<int> position(kCount);
  for (int i = 0; i < kCount; ++i) position[out_[i]] = i;
  for (int i = 0; i < kCount; ++i)
    for (const int earlier : after[i]) EXPECT_LT(position[earlier], position[i]);
}

}  // namespace
}  // namespace clique::daemon
