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

TEST(Sessions, GivenAnotherVersionThenItIsRefusedWithTheReason) {
  const Node node;
  try {
    hello(node.endpoint(), "a test", kVersion + 1);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("version"), std::string::npos);
  }
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

TEST(Sessions, GivenAddressOfOthersThenInsecureIsDemanded) {
  const auto [output, status] = run_cliqued({"--listen", "0.0.0.0:0"});
  EXPECT_NE(status, 0);
  EXPECT_NE(output.find("--insecure"), std::string::npos);
}

TEST(Sessions, GivenAClientThatGoesBeforeItAttachesThenItsWorkersEnd) {
  const Node node;
  {
    zmq::socket_t socket = dealer(node.endpoint());
    send(socket, Hello{kVersion, Wish::Session, "a passer-by"});
    Receiver<HandshakeMessages> answers(socket);
    answers.next<Welcome>();
    EXPECT_TRUE(eventually([&] { return node.workers().size() == 2; }));
  }
  // Much earlier than one that stays connected would have to attach.
  EXPECT_TRUE(eventually([&] { return node.workers().size() == 1; }, std::chrono::seconds(10))) << node.log();
  EXPECT_TRUE(node.logged("the client has gone without attaching"));
}

TEST(Sessions, GivenAClientThatAsksForDevicesThenItGetsNoSession) {
  const Node node({"--sessions", "1"});
  zmq::socket_t socket = dealer(node.endpoint());
  Receiver<HandshakeMessages> answers(socket);
  for (int i = 0; i < 3; ++i) {
    send(socket, Hello{kVersion, Wish::Devices, "a test"});
    const Offer offer = answers.next<Offer>();
    ASSERT_EQ(offer.drivers.size(), 1U);
    EXPECT_FALSE(offer.drivers[0].devices.at(0).properties.empty());
  }
  EXPECT_FALSE(node.logged("session for a test")) << node.log();
  send(socket, Hello{kVersion, Wish::Session, "a test"});
  const auto worker = answers.next<Welcome>().workers.at(0);
  EXPECT_EQ(worker.driver, 0U);
  // What cannot be had is not offered.
  const Client client(worker);
  zmq::socket_t late = dealer(node.endpoint());
  send(late, Hello{kVersion, Wish::Devices, "another test"});
  Receiver<HandshakeMessages> refusals(late);
  EXPECT_NE(refusals.next<Refused>().reason.find("1 sessions, which is its limit"), std::string::npos);
}

TEST(Sessions, GivenHelloAgainThenTheWorkersGivenBeforeEnd) {
  const Node node({"--resume-timeout", "60", "--sessions", "1"});
  zmq::socket_t socket = dealer(node.endpoint());
  send(socket, Hello{kVersion, Wish::Session, "a test"});
  Receiver<HandshakeMessages> answers(socket);
  {
    // Open for the worker, but its client may not have heard of that when its connections were cut.
    const Client cut(answers.next<Welcome>().workers.at(0));
    EXPECT_TRUE(eventually([&] { return node.workers().size() == 2; }));
  }
  send(socket, Hello{kVersion, Wish::Session, "a test"});
  Client client(answers.next<Welcome>().workers.at(0));
  client.set_up();
  EXPECT_TRUE(eventually([&] { return node.logged("the client has asked for another session instead"); }))
      << node.log();
  // Sooner than a client that may come back is given up.
  EXPECT_TRUE(eventually([&] { return node.workers().size() == 2; }, std::chrono::seconds(5))) << node.log();
  EXPECT_EQ(client.finish().status, 0);
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
