// Parts of transfers find their Expect, in any order, and bad ones fail it.
#include "daemon/worker/transfers/transfers.hpp"

#include <gtest/gtest.h>

#include "protocol/limits.hpp"

namespace clique::daemon {
namespace {

struct Seen {
  std::vector<std::pair<std::uint64_t, std::size_t>> writes;
  std::vector<std::pair<std::uint64_t, std::size_t>> fetches;
  std::int32_t failed = 0;
  std::uint64_t missing = 0;
};

class FakeSink : public TransferSink {
 public:
  explicit FakeSink(Seen& seen, bool divisible = true) : seen_(seen), divisible_(divisible) {}
  void write(std::uint64_t offset, protocol::Payload data) override {
    seen_.writes.emplace_back(offset, data.bytes.size());
  }
  void fetch(protocol::WindowData&& part) override { seen_.fetches.emplace_back(part.offset, part.size); }
  void come_short(std::uint64_t size) override { seen_.missing += size; }
  void fail(std::int32_t status) override { seen_.failed = status; }
  bool divisible() const override { return divisible_; }
  bool map(Writer writer, std::function<void(std::shared_ptr<std::byte>)> action) override {
    if (writer != Writer::Device) return false;
    action(nullptr);
    return true;
  }

 private:
  Seen& seen_;
  const bool divisible_;
};

class TransfersTest : public testing::Test {
 protected:
  /// Of object 5, at its 1000th byte.
  static protocol::Expect expectation(protocol::CommandId id, std::uint64_t size) {
    return {{id, 3, 0, {}}, 5, 1000, size};
  }
  void expect(protocol::CommandId id, std::uint64_t size, bool divisible = true) {
    transfers_.expect(expectation(id, size), std::make_unique<FakeSink>(seen_, divisible));
  }
  /// A push of what comes by a transfer, to be the peer's transfer 70.
  static protocol::Push push_of(protocol::CommandId id, std::uint64_t size) {
    return {{99, 3, 0, {id}}, 5, 1000, size, 2, 70};
  }
  bool relay(const protocol::Push& push) {
    return transfers_.relay(push, {[this](protocol::PeerData&& part) { sent_.push_back(std::move(part)); },
                                   [this](protocol::Push&& part) { pushed_.push_back(std::move(part)); }});
  }
  void part(protocol::CommandId id, std::uint64_t offset, std::size_t size, std::int32_t status = 0) {
    static const std::vector<std::byte> bytes(1000);
    transfers_.receive({id, offset, status, {{bytes.data(), size}, nullptr}});
  }
  Transfers transfers_;
  Seen seen_;
  std::vector<protocol::PeerData> sent_;
  std::vector<protocol::Push> pushed_;
};

TEST_F(TransfersTest, GivenPartsAfterTheExpectThenTheyAreWritten) {
  expect(1, 100);
  part(1, 50, 50);
  part(1, 0, 50);
  EXPECT_EQ(seen_.writes, (std::vector<std::pair<std::uint64_t, std::size_t>>{{50, 50}, {0, 50}}));
}

TEST_F(TransfersTest, GivenTransferOfWhichNothingHasComeThenItMayBeMapped) {
  using Writer = TransferSink::Writer;
  const auto map = [this](protocol::CommandId id, std::uint64_t size, Writer writer = Writer::Device) {
    return transfers_.map(id, size, writer, [](const std::shared_ptr<std::byte>&) {});
  };
  EXPECT_FALSE(map(1, 100)) << "it is not expected";
  expect(1, 100);
  EXPECT_FALSE(map(1, 101)) << "the caller would write beyond its end";
  EXPECT_FALSE(map(1, 100, Writer::Process)) << "this sink maps for devices only";
  EXPECT_TRUE(map(1, 100));
  EXPECT_FALSE(map(1, 100)) << "it is mapped";
  EXPECT_FALSE(relay(push_of(1, 100))) << "its parts may change before they are sent";
  expect(2, 100);
  part(2, 0, 10);
  EXPECT_FALSE(map(2, 100));
  expect(3, 100);
  EXPECT_TRUE(relay(push_of(3, 100)));
  EXPECT_FALSE(map(3, 100)) << "parts are kept for the peer";
}

TEST_F(TransfersTest, GivenPartsBeforeTheExpectThenTheyWait) {
  part(1, 0, 50);
  EXPECT_TRUE(seen_.writes.empty());
  expect(1, 100);
  EXPECT_EQ(seen_.writes.size(), 1U);
  part(1, 50, 50);
  EXPECT_EQ(seen_.writes.size(), 2U);
  EXPECT_EQ(seen_.failed, 0);
}

TEST_F(TransfersTest, GivenEarlyPartsWhoseSizesOverflowThenTheRuleIsBroken) {
  part(1, 0, 1);
  EXPECT_THROW(transfers_.receive(protocol::WindowData{1, 0, 2, 0, ~0ULL, {}}), RuleBroken);
}

TEST_F(TransfersTest, GivenBadPartsThenTheExpectFails) {
  for (const auto& [offset, size] :
       std::vector<std::pair<std::uint64_t, std::size_t>>{{60, 50}, {0, 101}, {~0ULL, 1}, {100, 1}, {0, 0}}) {
    Transfers transfers;
    Seen seen;
    transfers.expect(expectation(1, 100), std::make_unique<FakeSink>(seen));
    static const std::vector<std::byte> bytes(1000);
    transfers.receive({1, offset, 0, {{bytes.data(), size}, nullptr}});
    EXPECT_LT(seen.failed, 0) << offset << " " << size;
    EXPECT_TRUE(seen.writes.empty());
    // More of the same are harmless.
    transfers.receive({1, 0, 0, {{bytes.data(), 100}, nullptr}});
    EXPECT_TRUE(seen.writes.empty());
  }
}

TEST_F(TransfersTest, GivenMoreThanWasExpectedThenItIsNotWritten) {
  expect(1, 100);
  part(1, 0, 80);
  part(1, 0, 80);
  EXPECT_EQ(seen_.writes.size(), 1U);
  EXPECT_LT(seen_.failed, 0);
}

TEST_F(TransfersTest, GivenFailedPushThenTheExpectFailsWithItsStatus) {
  expect(1, 100);
  part(1, 0, 0, -9);
  EXPECT_EQ(seen_.failed, -9);
}

TEST_F(TransfersTest, GivenTheSameExpectTwiceThenTheRuleIsBroken) {
  expect(1, 100);
  EXPECT_THROW(expect(1, 100), RuleBroken);
}

TEST_F(TransfersTest, GivenEndThenWhatIsBehindItIsNotWaitedFor) {
  expect(1, 100);
  part(1, 40, 0);
  EXPECT_EQ(seen_.missing, 60U);
  part(1, 0, 40);
  EXPECT_EQ(seen_.writes.size(), 1U);
  EXPECT_EQ(seen_.failed, 0);
  expect(1, 100);  // it was over
}

TEST_F(TransfersTest, GivenEndBeforeWhatHasComeOrBehindWhatIsExpectedThenTheExpectFails) {
  expect(1, 100);
  part(1, 0, 50);
  part(1, 49, 0);
  EXPECT_LT(seen_.failed, 0);
  seen_.failed = 0;
  expect(2, 100);
  part(2, 101, 0);
  EXPECT_LT(seen_.failed, 0);
  EXPECT_EQ(seen_.missing, 0U);
}

TEST_F(TransfersTest, GivenFewBytesThatAreExpectedThenTheyAreAwaited) {
  EXPECT_FALSE(transfers_.awaits_little());
  part(2, 0, 10);
  EXPECT_FALSE(transfers_.awaits_little()) << "nobody expects them";
  expect(1, 100);
  EXPECT_TRUE(transfers_.awaits_little());
  part(1, 0, 99);
  EXPECT_TRUE(transfers_.awaits_little());
  constexpr std::uint64_t kMuch = 64 * protocol::kMiB;
  expect(3, kMuch);
  EXPECT_FALSE(transfers_.awaits_little()) << "each of many parts would keep the thread awake";
  EXPECT_TRUE(transfers_.fail(3, -1));
  EXPECT_TRUE(transfers_.awaits_little());
  part(1, 99, 1);
  EXPECT_FALSE(transfers_.awaits_little());
  expect(2, 10);
  EXPECT_FALSE(transfers_.awaits_little()) << "all of it was there before";
  expect(4, 10);
  part(4, 20, 1);
  EXPECT_FALSE(transfers_.awaits_little()) << "it has failed";
  expect(5, 10);
  part(5, 0, 4);
  part(5, 4, 0);
  EXPECT_FALSE(transfers_.awaits_little()) << "it is shorter than expected";
}

TEST_F(TransfersTest, GivenPushOfWhatComesThenItsPartsGoOn) {
  expect(1, 100);
  ASSERT_TRUE(relay(push_of(1, 100)));
  EXPECT_TRUE(pushed_.empty());
  part(1, 50, 30);
  part(1, 80, 0);
  part(1, 0, 50);
  ASSERT_EQ(sent_.size(), 3U);
  EXPECT_EQ(sent_[0].transfer, 70U);
  EXPECT_EQ(sent_[0].offset, 50U);
  EXPECT_EQ(sent_[0].data.bytes.size(), 30U);
  EXPECT_EQ(sent_[1].offset, 80U);
  EXPECT_TRUE(sent_[1].data.bytes.empty());
  EXPECT_EQ(sent_[2].data.bytes.size(), 50U);
  EXPECT_EQ(seen_.writes.size(), 2U);
  EXPECT_FALSE(relay(push_of(1, 100))) << "all has come";
}

TEST_F(TransfersTest, GivenPartsBeforeThePushThenTheseAreStillToBePushed) {
  expect(1, 100);
  part(1, 10, 20);
  part(1, 30, 20);
  part(1, 90, 10);
  ASSERT_TRUE(relay(push_of(1, 100)));
  ASSERT_EQ(pushed_.size(), 2U);
  EXPECT_EQ(pushed_[0].offset, 1010U);
  EXPECT_EQ(pushed_[0].size, 40U);
  EXPECT_EQ(pushed_[0].at, 10U);
  EXPECT_EQ(pushed_[1].offset, 1090U);
  EXPECT_EQ(pushed_[1].at, 90U);
  part(1, 0, 10);
  part(1, 50, 40);
  EXPECT_EQ(sent_.size(), 2U);
}

TEST_F(TransfersTest, GivenPartInAWindowThenItIsFetchedAndStillToBePushed) {
  expect(1, 100);
  ASSERT_TRUE(relay(push_of(1, 100)));
  transfers_.receive(protocol::WindowData{1, 20, 7, 0, 80, {}});
  part(1, 0, 20);
  EXPECT_EQ(seen_.fetches, (std::vector<std::pair<std::uint64_t, std::size_t>>{{20, 80}}));
  ASSERT_EQ(pushed_.size(), 1U);
  EXPECT_EQ(pushed_[0].offset, 1020U);
  EXPECT_EQ(pushed_[0].size, 80U);
  EXPECT_EQ(pushed_[0].at, 20U);
  EXPECT_EQ(sent_.size(), 1U);
  expect(1, 100);  // it was over
}

TEST_F(TransfersTest, GivenPartInAWindowThatDoesNotFitThenTheExpectFails) {
  expect(1, 100);
  transfers_.receive(protocol::WindowData{1, 30, 7, 0, 80, {}});
  EXPECT_TRUE(seen_.fetches.empty());
  EXPECT_LT(seen_.failed, 0);
}

TEST_F(TransfersTest, GivenPartsOfAnImageBeforeThePushThenItWaits) {
  expect(1, 100, false);
  part(1, 0, 50);
  EXPECT_FALSE(relay(push_of(1, 100)));
}

TEST_F(TransfersTest, GivenTransferThatFailsThenSoDoesWhatItWasToGoOnAs) {
  expect(1, 100);
  expect(2, 100);
  ASSERT_TRUE(relay(push_of(1, 100)));
  ASSERT_TRUE(relay(push_of(2, 100)));
  part(1, 0, 0, -9);
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(sent_[0].status, -9);
  transfers_.fail(2, -8);
  ASSERT_EQ(sent_.size(), 2U);
  EXPECT_EQ(sent_[1].status, -8);
  EXPECT_FALSE(relay(push_of(2, 100)));
}

TEST_F(TransfersTest, GivenPushOfAnythingElseThenItWaits) {
  expect(1, 100);
  expect(2, 100);
  EXPECT_FALSE(relay(push_of(3, 100)));
  EXPECT_FALSE(relay(push_of(1, 99)));
  protocol::Push push = push_of(1, 100);
  push.offset = 0;
  EXPECT_FALSE(relay(push));
  push = push_of(1, 100);
  push.object = 6;
  EXPECT_FALSE(relay(push));
  push = push_of(1, 100);
  push.command.waits = {1, 2};
  EXPECT_FALSE(relay(push));
  push.command.waits = {};
  EXPECT_FALSE(relay(push));
  push = push_of(1, 100);
  push.command.flags = protocol::Command::kReport;
  EXPECT_FALSE(relay(push)) << "somebody wants to know of its end";
}

}  // namespace
}  // namespace clique::daemon
