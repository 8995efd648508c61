// known-nodes and authorized-clients.
#include "protocol/security/key_files.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <limits>

#include "protocol/version.hpp"

namespace clique::protocol {
namespace {

namespace fs = std::filesystem;

PublicKey key_of(std::uint8_t byte) {
  PublicKey::Bytes bytes{};
  bytes.fill(byte);
  return PublicKey(bytes);
}

const std::string kA = key_of(1).text();
const std::string kB = key_of(2).text();

/// The numbers of the wrong lines.
std::vector<std::size_t> numbers(const std::vector<WrongLine>& wrong) {
  std::vector<std::size_t> result;
  for (const WrongLine& line : wrong) {
    result.push_back(line.number);
    EXPECT_FALSE(line.why.empty());
  }
  return result;
}

std::vector<PublicKey> keys(const std::vector<KnownNode>& nodes) {
  std::vector<PublicKey> result;
  for (const KnownNode& node : nodes) result.push_back(node.key);
  return result;
}

TEST(KnownNodes, NameNodesByHostAndPort) {
  const auto known = KnownNodes::parse("# nodes\n\nalpha " + kA + "\n  Beta:7000\t" + kB +
                                       "  \r\n[fd00::1]:7001 " + kB + "\nfd00::1 " + kA);
  EXPECT_TRUE(known.wrong.empty());
  EXPECT_EQ(keys(known.find("alpha", kDefaultPort)), std::vector{key_of(1)});
  EXPECT_EQ(keys(known.find("ALPHA", kDefaultPort)), std::vector{key_of(1)});
  EXPECT_TRUE(known.find("alpha", 7000).empty());
  EXPECT_EQ(keys(known.find("beta", 7000)), std::vector{key_of(2)});
  EXPECT_TRUE(known.find("beta", kDefaultPort).empty());
  EXPECT_EQ(keys(known.find("fd00::1", 7001)), std::vector{key_of(2)});
  EXPECT_EQ(keys(known.find("fd00::1", kDefaultPort)), std::vector{key_of(1)});
  EXPECT_TRUE(known.find("alph", kDefaultPort).empty());
  EXPECT_TRUE(known.find("", kDefaultPort).empty());
  EXPECT_TRUE(known.find("*", kDefaultPort).empty());
}

TEST(KnownNodes, OneLineCanNameACluster) {
  const auto known = KnownNodes::parse("node*.cluster " + kA + "\nnode7.cluster " + kB + "\ngpu?:* " + kB);
  EXPECT_EQ(keys(known.find("node12.cluster", kDefaultPort)), std::vector{key_of(1)});
  EXPECT_EQ(keys(known.find("node7.cluster", kDefaultPort)), (std::vector{key_of(1), key_of(2)}));
  EXPECT_TRUE(known.find("node12.cluster", 7000).empty());
  EXPECT_EQ(keys(known.find("gpu1", 7000)), std::vector{key_of(2)});
  EXPECT_TRUE(known.find("gpu12", 7000).empty());
}

TEST(KnownNodes, NamesAreWhatFindLooksFor) {
  EXPECT_EQ(known_node_name("Alpha", kDefaultPort), "alpha");
  EXPECT_EQ(known_node_name("alpha", 7000), "alpha:7000");
  EXPECT_EQ(known_node_name("fd00::1", kDefaultPort), "fd00::1");
  EXPECT_EQ(known_node_name("fd00::1", 7000), "[fd00::1]:7000");
  EXPECT_EQ(known_node_name("vsock:2", kDefaultPort), "vsock:2");
  EXPECT_EQ(known_node_name("vsock:2", 7000), "vsock:2:7000");
}

TEST(KnownNodes, WrongLinesHaveNumbersAndHoldNoKey) {
  const auto known =
      KnownNodes::parse("alpha\n" + kA + "\nalpha " + kA + " more\nalpha " + kA.substr(1) +
                        "\nalpha ssh-ed25519 " + kA + "\n\n# alpha\nbeta " + kB + "\nalpha " + kA + "x\n");
  EXPECT_EQ(numbers(known.wrong), (std::vector<std::size_t>{1, 2, 3, 4, 5, 9}));
  EXPECT_EQ(known.nodes.size(), 1U);
}

TEST(AuthorizedClients, HaveNamesAndLimits) {
  const auto authorized =
      AuthorizedClients::parse(kA + " alice@laptop\n" + kB + "  bob  session-memory=2G sessions=3 share=20 ");
  EXPECT_TRUE(authorized.wrong.empty());
  ASSERT_EQ(authorized.clients.size(), 2U);
  const AuthorizedClient& alice = authorized.clients.at(key_of(1));
  EXPECT_EQ(alice.name, "alice@laptop");
  EXPECT_EQ(alice.sessions, 0U);
  EXPECT_EQ(alice.memory, 0U);
  EXPECT_EQ(alice.share, 0U);
  const AuthorizedClient& bob = authorized.clients.at(key_of(2));
  EXPECT_EQ(bob.name, "bob");
  EXPECT_EQ(bob.sessions, 3U);
  EXPECT_EQ(bob.memory, 2ULL << 30U);
  EXPECT_EQ(bob.share, 20U);
}

TEST(AuthorizedClients, EveryWrongLineIsSkippedWithItsNumber) {
  const std::vector<std::string> wrong{
      kA,
      "alice " + kA,
      kA + "= alice",
      "ed25519:short alice",
      kA + " alice session=3",
      kA + " alice sessions",
      kA + " alice devices=",
      kA + " alice admin=yes",
      kA + " alice admin=",
      kA + " alice folders=all",
      kA + " alice files=",
      kA + " alice sessions=",
      kA + " alice sessions=-1",
      kA + " alice sessions=3x",
      kA + " alice sessions=99999999999999999999",
      kA + " alice session-memory=",
      kA + " alice session-memory=G",
      kA + " alice session-memory=1.5G",
      kA + " alice session-memory=17179869184G",
      kA + " alice share=",
      kA + " alice share=0",
      kA + " alice share=1001",
      kA + " alice share=-1",
      kA + " alice share=1.5",
      kA + " alice =",
      kA + " alice smith",
      std::string(1, '\0') + kA + " alice",
  };
  std::string text;
  std::vector<std::size_t> expected;
  for (const std::string& line : wrong) {
    text += line + "\n";
    expected.push_back(expected.size() + 1);
    const auto alone = AuthorizedClients::parse(line);
    EXPECT_TRUE(alone.clients.empty()) << line;
    EXPECT_EQ(numbers(alone.wrong), std::vector<std::size_t>{1}) << line;
  }
  const auto authorized = AuthorizedClients::parse(text + kB + " bob");
  EXPECT_EQ(numbers(authorized.wrong), expected);
  EXPECT_EQ(authorized.clients.size(), 1U);
  EXPECT_EQ(authorized.clients.at(key_of(2)).name, "bob");
}

TEST(AuthorizedClients, AreAdministratorsIfTheirLinesSaySo) {
  const auto authorized = AuthorizedClients::parse(kA + " alice admin sessions=1\n" + kB + " admin\n");
  EXPECT_TRUE(authorized.wrong.empty());
  EXPECT_TRUE(authorized.clients.at(key_of(1)).admin);
  EXPECT_EQ(authorized.clients.at(key_of(1)).sessions, 1U);
  EXPECT_FALSE(authorized.clients.at(key_of(2)).admin) << "that is its name";
}

TEST(AuthorizedClients, TheFirstLineOfAKeyCounts) {
  const auto authorized = AuthorizedClients::parse(kA + " alice sessions=1\n" + kA + " eve\n");
  EXPECT_EQ(numbers(authorized.wrong), std::vector<std::size_t>{2});
  EXPECT_EQ(authorized.clients.at(key_of(1)).name, "alice");
  EXPECT_EQ(authorized.clients.at(key_of(1)).sessions, 1U);
}

TEST(Bytes, HaveUnitsOf1024) {
  EXPECT_EQ(parse_bytes("0"), 0U);
  EXPECT_EQ(parse_bytes("123"), 123U);
  EXPECT_EQ(parse_bytes("2K"), 2048U);
  EXPECT_EQ(parse_bytes("3M"), 3U << 20U);
  EXPECT_EQ(parse_bytes("16777215T"), 16777215ULL << 40U);
  EXPECT_EQ(parse_bytes("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
  for (const char* wrong : {"", "K", "-1", "+1", "1k", "1 K", " 1", "1KB", "0x10", "16777216T", "1e3"})
    EXPECT_THROW(parse_bytes(wrong), SecurityError) << wrong;
}

TEST(KeyFiles, AMissingFileIsEmpty) {
  EXPECT_TRUE(KnownNodes::read("/nonexistent/known-nodes").nodes.empty());
  EXPECT_TRUE(AuthorizedClients::read("/nonexistent/authorized-clients").clients.empty());
}

TEST(KeyFiles, WhatIsNotASensibleFileIsAnError) {
  std::string name = fs::temp_directory_path() / "clique-keys-XXXXXX";
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  const fs::path folder = name;
  EXPECT_THROW(AuthorizedClients::read(folder), SecurityError);
  std::ofstream(folder / "large").close();
  fs::resize_file(folder / "large", 1ULL << 40U);
  EXPECT_THROW(KnownNodes::read(folder / "large"), SecurityError);
  EXPECT_THROW(AuthorizedClients::read("/dev/zero"), SecurityError);
  std::ofstream(folder / "good") << kA << " alice\n";
  EXPECT_EQ(AuthorizedClients::read(folder / "good").clients.size(), 1U);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace clique::protocol
