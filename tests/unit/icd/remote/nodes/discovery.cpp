#include "icd/remote/nodes/discovery.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace clique::icd {
namespace {

class DiscoveryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(file_) << "alpha " << kKey << "\nbeta.example:7000 " << kKey << "\ngpu*.example " << kKey
                         << "\n";
    security_.known_nodes = {file_};
    security_.insecure = true;
  }
  void TearDown() override { std::filesystem::remove(file_); }

  static constexpr const char* kKey = "ed25519:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
  const std::string file_ = testing::TempDir() + "known-nodes." + std::to_string(::getpid());
  SecuritySettings security_;
};

using Nodes = std::vector<NodeAddress>;

TEST_F(DiscoveryTest, NodesAreKnownByTheirNameOrItsFirstPart) {
  const Discovery found =
      sort_out({{"gpu1.example.", 7890}, {"alpha.local", 7890}, {"beta.example", 7000}}, security_);
  EXPECT_EQ(found.nodes, (Nodes{{"gpu1.example", 7890}, {"alpha", 7890}, {"beta.example", 7000}}));
  EXPECT_TRUE(found.strangers.empty());
}

TEST_F(DiscoveryTest, OthersAreStrangersAlsoWithoutSecurity) {
  const Discovery found =
      sort_out({{"mallory.example", 7890}, {"beta.example", 7890}, {"alpha", 1}}, security_);
  EXPECT_TRUE(found.nodes.empty());
  EXPECT_EQ(found.strangers, (Nodes{{"mallory.example", 7890}, {"beta.example", 7890}, {"alpha", 1}}));
}

TEST_F(DiscoveryTest, ANodeIsUsedOnce) {
  const Discovery found =
      sort_out({{"alpha.local", 7890}, {"alpha.local", 7890}, {"alpha.example", 7890}}, security_);
  EXPECT_EQ(found.nodes, (Nodes{{"alpha", 7890}}));
}

TEST_F(DiscoveryTest, NamesThatNoHostHasAreIgnored) {
  const Discovery found = sort_out({{"", 7890},
                                    {".", 7890},
                                    {"a b", 7890},
                                    {"\x1b[2J", 7890},
                                    {"alpha", 0},
                                    {std::string(300, 'a'), 7890}},
                                   security_);
  EXPECT_TRUE(found.nodes.empty());
  EXPECT_TRUE(found.strangers.empty());
}

TEST_F(DiscoveryTest, TheirNumberIsLimited) {
  std::vector<Announced> many;
  for (int i = 0; i < 5000; ++i) many.push_back({"host" + std::to_string(i), 7890});
  EXPECT_LE(sort_out(many, security_).strangers.size(), 1024U);
}

TEST_F(DiscoveryTest, MalformedAnswersOfDnsAreErrors) {
  const std::vector<unsigned char> none;
  EXPECT_THROW(parse_srv(none.data(), none.size()), std::runtime_error);
  // One answer is promised, and missing.
  const std::vector<unsigned char> header{0, 1, 0x81, 0x80, 0, 0, 0, 1, 0, 0, 0, 0};
  EXPECT_THROW(parse_srv(header.data(), header.size()), std::runtime_error);
}

TEST_F(DiscoveryTest, TargetsAreSortedByPriority) {
  std::vector<unsigned char> answer{0, 1, 0x81, 0x80, 0, 0, 0, 2, 0, 0, 0, 0};
  const auto add = [&answer](unsigned char priority, char name) {
    const unsigned char record[] = {
        0, 0, 33, 0, 1, 0, 0, 0, 9, 0, 9, 0, priority, 0, 0, 0x1e, 0xd2, 1, static_cast<unsigned char>(name),
        0};
    answer.insert(answer.end(), std::begin(record), std::end(record));
  };
  add(20, 'a');
  add(10, 'b');
  EXPECT_EQ(parse_srv(answer.data(), answer.size()), (std::vector<Announced>{{"b", 7890}, {"a", 7890}}));
}

}  // namespace
}  // namespace clique::icd
