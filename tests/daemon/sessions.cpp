// Opening and ending sessions, and what the command line says about it.
#include <sys/wait.h>

#include <csignal>
#include <fstream>

#include "harness.hpp"

namespace clique::test {
namespace {

TEST(Sessions, GivenHelloThenDevicesAreDescribed) {
  const Node node({"--name", "n1", "--advertise", "n1.example"});
  const Welcome welcome = hello(node.endpoint());
  EXPECT_EQ(welcome.version, kVersion);
  EXPECT_EQ(welcome.node, "n1");
  EXPECT_EQ(welcome.advertise, "n1.example");
  Client client(welcome.workers.at(0));
  ASSERT_FALSE(client.attached.devices.empty());
  EXPECT_GT(client.attached.platform.size(), 4U);
  const auto& device = client.attached.devices[0];
  EXPECT_GT(device.properties.size(), 50U);
  EXPECT_FALSE(device.image_formats.empty());
  for (const Property& property : device.properties) {
    EXPECT_NE(property.name, 0x1031U) << "a handle to the node's platform is of no use elsewhere";
    EXPECT_NE(property.name, 0x1042U);
  }
}

TEST(Sessions, GivenSeveralClientsThenEachHasItsWorkers) {
  const Node node;
  Client first(node);
  Client second(node);
  EXPECT_NE(first.address.commands, second.address.commands);
  first.set_up();
  second.set_up();
  EXPECT_EQ(first.finish().status, 0);
  EXPECT_EQ(second.finish().status, 0);
  EXPECT_TRUE(eventually([&] { return node.workers().size() == 3; })) << "two sessions and a warm worker";
}

TEST(Sessions, GivenGoodbyeThenTheWorkerEnds) {
  const Node node;
  Client client(node);
  ASSERT_TRUE(eventually([&] { return node.workers().size() == 2; }));
  client.send(Goodbye{});
  EXPECT_TRUE(eventually([&] { return node.workers().size() == 1; }));
  EXPECT_TRUE(eventually([&] { return node.logged("ended"); }));
}

/// Why a node refuses a client of other versions.
std::string refusal(const Node& node, std::uint32_t version, std::uint32_t oldest) {
  try {
    hello(node.endpoint(), "a test", version, oldest);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "it is not refused";
}

TEST(Sessions, GivenVersionsThatDoNotOverlapThenBothAreNamedAndWhatToUpdate) {
  const Node node;
  const std::string ours =
      "speaks versions " + std::to_string(kOldestVersion) + " to " + std::to_string(kVersion);
  const std::string older = refusal(node, kOldestVersion - 1, kOldestVersion - 2);
  const std::string newer = refusal(node, kVersion + 2, kVersion + 1);
  for (const std::string& said : {older, newer}) EXPECT_NE(said.find(ours), std::string::npos) << said;
  EXPECT_NE(older.find(std::to_string(kOldestVersion - 2) + " to " + std::to_string(kOldestVersion - 1)),
            std::string::npos)
      << older;
  EXPECT_NE(older.find("the package libclique1 on the client's host"), std::string::npos) << older;
  EXPECT_NE(newer.find(std::to_string(kVersion + 1) + " to " + std::to_string(kVersion + 2)),
            std::string::npos)
      << newer;
  EXPECT_NE(newer.find("the package cliqued on the node"), std::string::npos) << newer;
}

TEST(Sessions, GivenAClientOfTheNextVersionThenItHasASession) {
  const Node node;
  const Welcome welcome = hello(node.endpoint(), "a test", kVersion + 1, kVersion);
  EXPECT_EQ(welcome.version, kVersion);
  EXPECT_FALSE(welcome.workers.empty());
}

TEST(Sessions, GivenMessagesOfTheNextVersionThenTheFieldsThatItHasAppendedAreIgnored) {
  const Node node({"--worker-ports", "27900-27950"});
  Client client(node);
  client.set_up();
  // Finish, to which the next version has appended a number.
  send_frames(client.commands, {std::string("\x94\x64\x01\x02\x2a", 5)});
  EXPECT_EQ(client.next<Finished>().request, 1U);
}

TEST(Sessions, GivenNoUsableDriverThenClientsAreRefusedWithTheReason) {
  ::setenv("CLIQUE_NODE_ICD_VENDORS", "/nonexistent", 1);
  const Node node;
  ::unsetenv("CLIQUE_NODE_ICD_VENDORS");
  try {
    hello(node.endpoint());
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("no OpenCL devices"), std::string::npos) << error.what();
  }
}

TEST(Sessions, GivenAWorkerKilledWhileItStartsThenTheNextClientGetsAnother) {
  const Node node;
  ASSERT_TRUE(eventually([&] { return !node.workers().empty(); }));
  ::kill(node.workers().front(), SIGKILL);
  ASSERT_TRUE(eventually([&] { return node.logged("its worker exited: killed"); }));
  Client client(node);
  client.set_up();
  EXPECT_EQ(client.finish().status, 0);
}

TEST(Sessions, GivenWorkerPortsThenSessionsUseThem) {
  const Node node({"--worker-ports", "27900-27950"});
  Client client(node);
  EXPECT_GE(client.address.commands, 27900);
  EXPECT_LE(client.address.peers, 27950);
}

TEST(Sessions, GivenDevicesThatDoNotExistThenTheNodesAreListed) {
  const auto [output, status] = run_cliqued({"--listen", "127.0.0.1:0", "--devices", "quantum"});
  EXPECT_NE(status, 0);
  EXPECT_NE(output.find("'quantum'"), std::string::npos) << output;
  EXPECT_NE(output.find("  0  "), std::string::npos) << output;
}

TEST(Sessions, GivenAddressOfOthersThenAKeyIsDemanded) {
  const auto [output, status] = run_cliqued({"--listen", "0.0.0.0:0", "--identity", ""});
  EXPECT_NE(status, 0);
  EXPECT_NE(output.find("clique keygen --node"), std::string::npos) << output;
}

TEST(Sessions, GivenAClientThatGoesBeforeItAttachesThenItsWorkersEnd) {
  const Node node;
  {
    Caller caller(node.endpoint());
    caller.send(Hello{kVersion, Wish::Session, "a passer-by"});
    caller.next<Welcome>();
    EXPECT_TRUE(eventually([&] { return node.workers().size() == 2; }));
  }
  // Much earlier than one that stays connected would have to attach.
  EXPECT_TRUE(eventually([&] { return node.workers().size() == 1; }, std::chrono::seconds(10))) << node.log();
  EXPECT_TRUE(eventually([&] { return node.logged("the client has gone without attaching"); }));
}

TEST(Sessions, GivenAClientThatAsksForDevicesThenItGetsNoSession) {
  const Node node({"--sessions", "1"});
  for (int i = 0; i < 3; ++i) {
    Caller caller(node.endpoint());
    caller.send(Hello{kVersion, Wish::Devices, "a test"});
    const Offer offer = caller.next<Offer>();
    ASSERT_EQ(offer.drivers.size(), 1U);
    EXPECT_TRUE(offer.same_user);
    EXPECT_FALSE(offer.drivers[0].devices.at(0).properties.empty());
  }
  EXPECT_FALSE(node.logged(" began: ")) << node.log();
  const auto worker = hello(node.endpoint()).workers.at(0);
  EXPECT_EQ(worker.driver, 0U);
  // What cannot be had is not offered.
  const Client client(worker);
  Caller late(node.endpoint());
  late.send(Hello{kVersion, Wish::Devices, "another test"});
  EXPECT_NE(late.next<Refused>().reason.find("1 session, which is its limit"), std::string::npos);
}

TEST(Sessions, GivenAnAnsweredClientThatStaysThenItsConnectionIsClosed) {
  const Node node;
  Caller caller(node.endpoint());
  caller.send(Hello{kVersion, Wish::Devices, "a test"});
  caller.next<Offer>();
  EXPECT_TRUE(caller.closed());
}

TEST(Sessions, GivenASecondHelloThenTheConnectionIsClosed) {
  const Node node;
  Caller caller(node.endpoint());
  caller.send(Hello{kVersion, Wish::Devices, "a test"});
  caller.next<Offer>();
  caller.send(Hello{kVersion, Wish::Devices, "a test"});
  EXPECT_TRUE(caller.closed());
  EXPECT_TRUE(eventually([&] { return node.logged("sent more than one message"); }));
}

TEST(Sessions, GivenTerminationThenItEndsWell) {
  Node node;
  const auto workers = node.workers();
  node.signal(SIGTERM);
  const int status = node.wait();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_TRUE(eventually([&] {
    for (const pid_t worker : workers)
      if (alive(worker)) return false;
    return true;
  }));
}

}  // namespace
}  // namespace clique::test
