// Parts of transfers find their Expect, in any order, and bad ones fail it.
#include "daemon/transfers.hpp"

#include <gtest/gtest.h>

namespace clique::daemon {
namespace {

struct Seen {
  std::vector<std::pair<std::uint64_t, std::size_t>> writes;
  std::int32_t failed = 0;
};

class FakeSink : public TransferSink {
 public:
  explicit FakeSink(Seen& seen) : seen_(seen) {}
  void write(std::uint64_t offset, protocol::Payload data) override {
    seen_.writes.emplace_back(offset, data.bytes.size());
  }
  void fail(std::int32_t status) override { seen_.failed = status; }

 private:
  Seen& seen_;
};

class TransfersTest : public testing::Test {
 protected:
  void expect(protocol::CommandId id, std::uint64_t size) {
    transfers_.expect(id, size, std::make_unique<FakeSink>(seen_));
  }
  void part(protocol::CommandId id, std::uint64_t offset, std::size_t size, std::int32_t status = 0) {
    static const std::vector<std::byte> bytes(1000);
    transfers_.receive({id, offset, status, {{bytes.data(), size}, nullptr}});
  }
  Transfers transfers_;
  Seen seen_;
};

TEST_F(TransfersTest, GivenPartsAfterTheExpectThenTheyAreWritten) {
  expect(1, 100);
  part(1, 50, 50);
  part(1, 0, 50);
  EXPECT_EQ(seen_.writes, (std::vector<std::pair<std::uint64_t, std::size_t>>{{50, 50}, {0, 50}}));
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

TEST_F(TransfersTest, GivenBadPartsThenTheExpectFails) {
  for (const auto& [offset, size] :
       std::vector<std::pair<std::uint64_t, std::size_t>>{{60, 50}, {0, 101}, {~0ULL, 1}, {100, 1}, {0, 0}}) {
    Transfers transfers;
    Seen seen;
    transfers.expect(1, 100, std::make_unique<FakeSink>(seen));
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

}  // namespace
}  // namespace clique::daemon
