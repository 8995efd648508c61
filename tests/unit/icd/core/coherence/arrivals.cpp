// From which holder content is fetched that many holders want at the same time.
#include "icd/core/coherence/arrivals.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>

namespace clique::icd {
namespace {

/// A transfer; it is complete once *token is true.
using Token = std::shared_ptr<bool>;
using TokenMap = RangeMap<Token>;

constexpr std::uint64_t kLarge = 64U << 20U;

/// An object that holder 0 has written, and holders that fetch it.
class Spread {
 public:
  explicit Spread(std::uint64_t size = kLarge) : size_(size) { copies_.push_back({0, {}}); }
  /// @returns the holder that this one gets the content from.
  Holder fetch(Holder to) {
    const auto traffic = arrivals_.traffic(0, size_);
    const auto* copy = traffic.soonest(copies_, [this](Holder holder) { return !lost.contains(holder); });
    if (copy == nullptr) return to;
    const Holder from = copy->holder;
    rounds.push_back(traffic.round(from));
    tokens.push_back(std::make_shared<bool>(false));
    arrivals_.add(from, to, 0, size_, tokens.back(), rounds.back());
    copies_.push_back({to, {tokens.back()}});
    return from;
  }
  void end_all() {
    for (const Token& token : tokens) *token = true;
  }
  void add_host() { copies_.insert(copies_.begin(), {kHost, {}}); }

  std::vector<std::uint64_t> rounds;
  std::vector<Token> tokens;
  std::set<Holder> lost;

 private:
  std::uint64_t size_;
  std::vector<TokenMap::Copy> copies_;
  Arrivals<Token> arrivals_{[](const Token& token) { return *token; }};
};

TEST(Arrivals, GivenManyReadersOfOnePartThenInEveryRoundTwiceAsManyHaveIt) {
  Spread spread(protocol::kPartSize);
  for (Holder reader = 1; reader < 64; ++reader) spread.fetch(reader);
  for (std::uint64_t round = 1; round <= 6; ++round)
    EXPECT_EQ(1 << (round - 1), std::count(spread.rounds.begin(), spread.rounds.end(), round)) << round;
}

TEST(Arrivals, GivenManyReadersOfManyPartsThenEachSendsThemOnOnce) {
  Spread spread;
  for (Holder reader = 1; reader < 32; ++reader) EXPECT_EQ(reader - 1, spread.fetch(reader));
}

TEST(Arrivals, GivenMoreReadersThanPartsThenTheChainBranches) {
  Spread spread(4 * protocol::kPartSize);
  std::multiset<Holder> sources;
  for (Holder reader = 1; reader < 64; ++reader) sources.insert(spread.fetch(reader));
  EXPECT_EQ(2U, sources.count(0));
  EXPECT_LT(*std::max_element(spread.rounds.begin(), spread.rounds.end()), 16U);
}

TEST(Arrivals, GivenTransfersThatHaveEndedThenTheyMakeNobodyBusy) {
  Spread spread;
  for (Holder reader = 1; reader < 8; ++reader) spread.fetch(reader);
  spread.end_all();
  spread.rounds.clear();
  std::set<Holder> sources;
  for (Holder reader = 8; reader < 16; ++reader) sources.insert(spread.fetch(reader));
  EXPECT_EQ(8U, sources.size());
  EXPECT_EQ(std::vector<std::uint64_t>(8, 1), spread.rounds);
}

TEST(Arrivals, GivenSmallContentThenAFewGetItFromTheSameHolder) {
  Spread spread(4096);
  for (Holder reader = 1; reader <= 8; ++reader) EXPECT_EQ(0U, spread.fetch(reader));
  EXPECT_NE(0U, spread.fetch(9));
}

TEST(Arrivals, GivenLostHolderThenOthersAreAsked) {
  Spread spread;
  spread.fetch(1);
  spread.lost = {1};
  EXPECT_EQ(0U, spread.fetch(2));
  spread.lost = {0, 1, 2};
  EXPECT_EQ(3U, spread.fetch(3)) << "nobody is left";
}

TEST(Arrivals, GivenHostThenItIsAskedLast) {
  Spread spread;
  spread.add_host();
  for (Holder reader = 1; reader < 16; ++reader) EXPECT_NE(kHost, spread.fetch(reader));
  Spread only_host;
  only_host.add_host();
  only_host.lost = {0};
  EXPECT_EQ(kHost, only_host.fetch(1));
}

TEST(Arrivals, GivenOtherRangesThenTheyDoNotCount) {
  Arrivals<Token> arrivals([](const Token& token) { return *token; });
  const std::vector<TokenMap::Copy> copies{{0, {}}, {1, {}}};
  const auto any = [](Holder) { return true; };
  const auto token = std::make_shared<bool>(false);
  arrivals.add(0, 2, 0, kLarge, token, 1);
  EXPECT_EQ(1U, arrivals.traffic(0, kLarge).soonest(copies, any)->holder);
  EXPECT_EQ(0U, arrivals.traffic(kLarge, 2 * kLarge).soonest(copies, any)->holder);
}

TEST(Arrivals, GivenLaterTransferOfTheRangeThenItStandsForTheEarlierOnes) {
  Arrivals<Token> arrivals([](const Token& token) { return *token; });
  const std::vector<Token> tokens{std::make_shared<bool>(false), std::make_shared<bool>(false),
                                  std::make_shared<bool>(false)};
  arrivals.add(0, 1, 0, 10, tokens[0], 1);
  arrivals.add(0, 1, 20, 30, tokens[1], 1);
  EXPECT_EQ((std::vector<Token>{tokens[0], tokens[1]}), arrivals.under_way(1, 9, 21));
  EXPECT_EQ(std::vector<Token>{}, arrivals.under_way(1, 10, 20));
  EXPECT_EQ(std::vector<Token>{}, arrivals.under_way(2, 0, 30));
  arrivals.add(0, 1, 0, 15, tokens[2], 1);
  EXPECT_EQ(std::vector<Token>{tokens[2]}, arrivals.under_way(1, 0, 10));
  EXPECT_FALSE(arrivals.all_ended());
  for (const Token& token : tokens) *token = true;
  EXPECT_TRUE(arrivals.all_ended());
  EXPECT_EQ(std::vector<Token>{}, arrivals.under_way(1, 0, 30));
}

TEST(Arrivals, GivenHolderThatSendsThenItsTransfersAreKnownUntilTheyEnd) {
  Arrivals<Token> arrivals([](const Token& token) { return *token; });
  const std::vector<Token> tokens{std::make_shared<bool>(false), std::make_shared<bool>(false),
                                  std::make_shared<bool>(false)};
  arrivals.add(0, 1, 0, 10, tokens[0], 1);
  arrivals.add(0, 2, 5, 15, tokens[1], 1);
  // A newer version from elsewhere does not end what holder 0 still sends.
  arrivals.add(3, 1, 0, 10, tokens[2], 1);
  EXPECT_EQ((std::vector<Token>{tokens[0], tokens[1]}), arrivals.departing(0, 5, 10));
  EXPECT_EQ(std::vector<Token>{tokens[1]}, arrivals.departing(0, 10, 20));
  EXPECT_EQ(std::vector<Token>{tokens[2]}, arrivals.departing(3, 0, 100));
  *tokens[0] = true;
  EXPECT_EQ(std::vector<Token>{tokens[1]}, arrivals.departing(0, 0, 100));
}

}  // namespace
}  // namespace clique::icd
