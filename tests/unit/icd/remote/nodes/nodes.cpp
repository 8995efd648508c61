#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>

#include "icd/remote/nodes/nodes.hpp"
#include "protocol/codec.hpp"
#include "protocol/host_id.hpp"
#include "protocol/version.hpp"
#include "unit/icd/remote/fakes.hpp"

namespace clique::icd::test {
namespace {

using namespace std::chrono_literals;

/// Sets an environment variable for the length of a test.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) { ::setenv(name, value.c_str(), 1); }
  ~Variable() { ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

struct Opened {
  std::vector<std::unique_ptr<Node>> nodes;
  std::vector<Link*> links;
  std::string said;
};

/// Finds the nodes, and opens links to all of their workers.
Opened open(protocol::ZmqContext& zmq, const std::string& nodes) {
  const Variable variable("CLIQUE_NODES", nodes);
  testing::internal::CaptureStderr();
  Opened opened;
  opened.nodes = find_nodes(zmq);
  for (const auto& node : opened.nodes) {
    for (std::size_t driver = 0; driver < node->drivers().size(); ++driver) {
      try {
        opened.links.push_back(&node->link(driver));
      } catch (const Error& error) {
        EXPECT_EQ(error.status(), CL_DEVICE_NOT_AVAILABLE);
      }
    }
  }
  opened.said = testing::internal::GetCapturedStderr();
  return opened;
}

std::string local(std::uint16_t port) {
  return "127.0.0.1:" + std::to_string(port);
}

protocol::WorkerAddress address(const FakeWorker& worker, std::uint32_t driver = 0) {
  return {worker.commands_port(), worker.reports_port(), 1234, {}, {}, "", driver};
}

/// The offer of a node with this many drivers, all without devices.
protocol::Offer offer(const std::string& node, std::uint32_t drivers = 1) {
  protocol::Offer offer{protocol::kVersion, node, {}};
  for (std::uint32_t id = 0; id < drivers; ++id) offer.drivers.push_back({id, {}});
  return offer;
}

TEST(Nodes, AreReportedLostOnceByTheProcessThatHasTheSession) {
  Node node(
      "one", {}, [](const auto&, const auto&) { return OpenedSession{}; },
      [] { return std::set<std::uint32_t>(); });
  testing::internal::CaptureStderr();
  const pid_t child = ::fork();
  if (child == 0) {
    node.say_lost("node one: in a child");
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  testing::internal::CaptureStderr();
  node.say_lost("node one: the cable is cut");
  node.say_lost("node one: the cable is still cut");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "clique: node one: the cable is cut. The session with this node is lost, and commands for its "
            "devices fail. To use them again, start the program again\n");
}

TEST(Nodes, AreOpenedInTheirOrder) {
  FakeWorker workers[3];
  std::promise<std::string> client;
  FakeDaemon first(offer("one", 2), [&](const protocol::Hello& hello, protocol::Batch& batch) {
    client.set_value(hello.client);
    std::this_thread::sleep_for(50ms);
    batch.add(
        protocol::Welcome{protocol::kVersion, "one", "", {address(workers[0]), address(workers[1], 1)}});
  });
  FakeDaemon second(offer("two"), [&](const protocol::Hello&, protocol::Batch& batch) {
    batch.add(protocol::Welcome{protocol::kVersion, "two", "fd00::2", {address(workers[2])}});
  });
  protocol::ZmqContext zmq(1);
  const auto opened = open(zmq, local(first.port()) + "," + local(second.port()));
  EXPECT_EQ(opened.said, "");
  ASSERT_EQ(opened.links.size(), 3U);
  EXPECT_EQ(opened.links[0]->endpoint().node, "one");
  EXPECT_EQ(opened.links[0]->endpoint().commands, workers[0].endpoint().commands);
  EXPECT_EQ(opened.links[0]->endpoint().peers, "tcp://127.0.0.1:1234");
  EXPECT_EQ(opened.links[1]->endpoint().commands, workers[1].endpoint().commands);
  EXPECT_EQ(opened.links[2]->endpoint().node, "two");
  EXPECT_EQ(opened.links[2]->endpoint().peers, "tcp://[fd00::2]:1234");
  const std::string name = client.get_future().get();
  EXPECT_NE(name.find("[" + std::to_string(::getpid()) + "]@"), std::string::npos) << name;
}

TEST(Nodes, ThatAreListedTwiceAreUsedOnce) {
  FakeWorker worker;
  FakeDaemon daemon(offer("one"), [&](const protocol::Hello&, protocol::Batch& batch) {
    batch.add(protocol::Welcome{protocol::kVersion, "one", "", {address(worker)}});
  });
  protocol::ZmqContext zmq(1);
  const std::string node = local(daemon.port());
  const auto opened = open(zmq, node + "," + node + "," + node);
  EXPECT_EQ(opened.said, "clique: node '" + node +
                             "' is listed more than once, and used once; remove the other entries\n");
  EXPECT_EQ(opened.links.size(), 1U);
}

TEST(Nodes, AreAskedForSessionsOnlyWhereTheyAreUsed) {
  FakeWorker worker;
  std::atomic<int> sessions{0};
  FakeDaemon daemon(offer("one"), [&](const protocol::Hello&, protocol::Batch& batch) {
    if (++sessions == 1)
      batch.add(protocol::Refused{"the first is refused"});
    else
      batch.add(protocol::Welcome{protocol::kVersion, "one", "", {address(worker)}});
  });
  const Variable variable("CLIQUE_NODES", local(daemon.port()));
  protocol::ZmqContext zmq(1);
  const auto nodes = find_nodes(zmq);
  ASSERT_EQ(nodes.size(), 1U);
  EXPECT_EQ(nodes[0]->name(), "one");
  EXPECT_TRUE(nodes[0]->available(0));
  EXPECT_EQ(sessions, 0);
  EXPECT_THROW(nodes[0]->link(0), Error);
  // A later call tries again. Further calls return the same link.
  Link& link = nodes[0]->link(0);
  EXPECT_EQ(&nodes[0]->link(0), &link);
  EXPECT_EQ(sessions, 2);
}

TEST(Nodes, ThatServeOtherDevicesThanTheyOfferedAreNotUsed) {
  FakeWorker worker;
  protocol::Offer told = offer("one");
  told.drivers[0].devices.push_back({{{CL_DEVICE_NAME, {'a', 0}}}, {}});
  FakeDaemon daemon(told, [&](const protocol::Hello&, protocol::Batch& batch) {
    batch.add(protocol::Welcome{protocol::kVersion, "one", "", {address(worker)}});
  });
  protocol::ZmqContext zmq(1);
  const auto opened = open(zmq, local(daemon.port()));
  ASSERT_EQ(opened.nodes.size(), 1U);
  EXPECT_TRUE(opened.links.empty());
}

TEST(Nodes, ThatAreGoneAreNotAvailable) {
  auto daemon = std::make_unique<FakeDaemon>(offer("one"), [](const protocol::Hello&, protocol::Batch&) {});
  const Variable variable("CLIQUE_NODES", local(daemon->port()));
  protocol::ZmqContext zmq(1);
  const auto nodes = find_nodes(zmq);
  ASSERT_EQ(nodes.size(), 1U);
  EXPECT_TRUE(nodes[0]->available(0));
  daemon.reset();
  EXPECT_TRUE(eventually([&] { return !nodes[0]->available(0); }));
}

TEST(Nodes, ByNameAreTriedAtEveryAddress) {
  FakeWorker worker;
  // The daemon listens on 127.0.0.1 only; the first address of localhost may be ::1.
  FakeDaemon daemon(offer("one"), [&](const protocol::Hello&, protocol::Batch& batch) {
    batch.add(protocol::Welcome{protocol::kVersion, "one", "", {address(worker)}});
  });
  protocol::ZmqContext zmq(1);
  const auto opened = open(zmq, "localhost:" + std::to_string(daemon.port()));
  ASSERT_EQ(opened.links.size(), 1U) << opened.said;
  EXPECT_EQ(opened.links[0]->endpoint().peers, "tcp://localhost:1234");
}

TEST(Nodes, ThatRefuseAreReportedAtOnceAndOnce) {
  std::uint16_t port = 0;
  {
    FakeDaemon daemon([](const protocol::Hello&, protocol::Batch&) {});
    port = daemon.port();
  }
  protocol::ZmqContext zmq(1);
  const auto opened = open(zmq, local(port));
  EXPECT_TRUE(opened.links.empty());
  EXPECT_EQ(opened.said,
            "clique: node '" + local(port) +
                "' cannot be reached: connection refused. Is cliqued running there? It must listen at port " +
                std::to_string(port) + " of this address: see its setting 'listen'\n");
  EXPECT_EQ(open(zmq, local(port)).said, "");
}

TEST(Nodes, ThatCannotBeReachedAreLeftOut) {
  FakeWorker worker;
  FakeDaemon daemon(offer("one"), [&](const protocol::Hello&, protocol::Batch& batch) {
    batch.add(protocol::Welcome{protocol::kVersion, "one", "", {address(worker)}});
  });
  protocol::ZmqContext zmq(1);
  const auto opened = open(zmq, "no-such-host.invalid," + local(daemon.port()));
  EXPECT_EQ(opened.links.size(), 1U);
  EXPECT_NE(opened.said.find("node 'no-such-host.invalid:7890' cannot be reached: its name "),
            std::string::npos)
      << opened.said;
}

TEST(Nodes, OfAnotherVersionAreExplained) {
  FakeDaemon daemon([&](const protocol::Hello&, protocol::Batch& batch) {
    batch.add(protocol::Offer{protocol::kOldestVersion - 1, "one", {}});
  });
  protocol::ZmqContext zmq(1);
  const auto said = open(zmq, local(daemon.port())).said;
  for (const auto& part : {"speaks version " + std::to_string(protocol::kOldestVersion - 1),
                           "speaks versions " + std::to_string(protocol::kOldestVersion) + " to " +
                               std::to_string(protocol::kVersion),
                           std::string("the package cliqued on the node")})
    EXPECT_NE(said.find(part), std::string::npos) << said;
}

TEST(Nodes, WhoseHostOnlyPassesTheConnectionOnShareNoMemory) {
  const auto shares_memory = [](bool same_user, const std::string& host) {
    const FakeWorker worker;
    protocol::Offer sent = offer("one");
    sent.same_user = same_user;
    sent.host = host;
    FakeDaemon daemon(sent, [&](const protocol::Hello&, protocol::Batch& batch) {
      batch.add(protocol::Welcome{protocol::kVersion, "one", "", {address(worker)}});
    });
    protocol::ZmqContext zmq(1);
    return open(zmq, local(daemon.port())).nodes.at(0)->use().shares_memory;
  };
  ASSERT_FALSE(protocol::host_id().empty());
  EXPECT_TRUE(shares_memory(true, protocol::host_id()));
  EXPECT_TRUE(shares_memory(true, "")) << "the node does not tell its host";
  EXPECT_FALSE(shares_memory(true, "another"));
  EXPECT_FALSE(shares_memory(false, ""));
}

TEST(Nodes, ThatRefuseTheSessionSayWhy) {
  FakeDaemon daemon([&](const protocol::Hello&, protocol::Batch& batch) {
    batch.add(protocol::Refused{"too many sessions"});
  });
  protocol::ZmqContext zmq(1);
  const auto said = open(zmq, local(daemon.port())).said;
  EXPECT_NE(said.find("cannot be reached: cliqued refused: too many sessions"), std::string::npos) << said;
}

TEST(Nodes, ThatDoNotAnswerTakeTheTimeoutOnly) {
  FakeDaemon daemon([](const protocol::Hello&, protocol::Batch&) {});
  Proxy proxy(daemon.port());
  proxy.freeze();
  const Variable timeout("CLIQUE_CONNECT_TIMEOUT_MS", "300");
  protocol::ZmqContext zmq(1);
  const auto opened = open(zmq, local(daemon.port()) + "," + local(proxy.port()));
  EXPECT_TRUE(opened.links.empty());
  EXPECT_NE(opened.said.find("did not answer in time"), std::string::npos) << opened.said;
}

TEST(Nodes, ThatHaveToStartTheirDriversAreWaitedFor) {
  FakeWorker worker;
  FakeDaemon daemon([](const protocol::Hello&, protocol::Batch& batch) { batch.add(protocol::Starting{}); },
                    [&](const protocol::Hello& hello, protocol::Batch& batch) {
                      std::this_thread::sleep_for(2s);
                      if (hello.wish == protocol::Wish::Devices)
                        batch.add(offer("one"));
                      else
                        batch.add(protocol::Welcome{protocol::kVersion, "one", "", {address(worker)}});
                    });
  const Variable timeout("CLIQUE_CONNECT_TIMEOUT_MS", "1500");
  protocol::ZmqContext zmq(1);
  const auto opened = open(zmq, local(daemon.port()));
  EXPECT_EQ(opened.links.size(), 1U) << opened.said;
}

/// A worker that has died unnoticed by its daemon: its ports refuse connections.
protocol::WorkerAddress dead_worker() {
  const FakeWorker gone;
  return address(gone);
}

TEST(Nodes, WhoseWorkersDieAreAskedForOthers) {
  FakeWorker workers[2];
  std::atomic<bool> left{false};
  workers[0].on_goodbye = [&] { left.store(true); };
  workers[0].run([] {});
  int hellos = 0;
  FakeDaemon daemon(offer("one"), [&](const protocol::Hello&, protocol::Batch& batch) {
    std::vector<protocol::WorkerAddress> set{address(workers[1])};
    if (hellos++ == 0) set = {address(workers[0]), dead_worker()};
    batch.add(protocol::Welcome{protocol::kVersion, "one", "", std::move(set)});
  });
  protocol::ZmqContext zmq(1);
  const auto opened = open(zmq, local(daemon.port()));
  EXPECT_EQ(opened.said, "");
  ASSERT_EQ(opened.links.size(), 1U);
  EXPECT_EQ(opened.links[0]->endpoint().commands, workers[1].endpoint().commands);
  EXPECT_TRUE(eventually([&] { return left.load(); }));
}

TEST(Nodes, WhoseWorkersAlwaysDieAreGivenUp) {
  std::atomic<int> hellos{0};
  FakeDaemon daemon(offer("one"), [&](const protocol::Hello&, protocol::Batch& batch) {
    ++hellos;
    batch.add(protocol::Welcome{protocol::kVersion, "one", "", {dead_worker()}});
  });
  protocol::ZmqContext zmq(1);
  const auto opened = open(zmq, local(daemon.port()));
  EXPECT_TRUE(opened.links.empty());
  EXPECT_EQ(hellos, 3);
  EXPECT_NE(opened.said.find("worker 1 cannot be used: node one: the worker's port refused the connection"),
            std::string::npos)
      << opened.said;
}

TEST(Nodes, WithAWorkerThatAlwaysDiesAreUsedWithoutIt) {
  FakeWorker workers[3];
  std::size_t hellos = 0;
  FakeDaemon daemon(offer("one", 2), [&](const protocol::Hello&, protocol::Batch& batch) {
    batch.add(protocol::Welcome{protocol::kVersion,
                                "one",
                                "",
                                {dead_worker(), address(workers[std::min<std::size_t>(hellos++, 2)], 1)}});
  });
  protocol::ZmqContext zmq(1);
  const auto opened = open(zmq, local(daemon.port()));
  ASSERT_EQ(opened.links.size(), 1U);
  EXPECT_EQ(opened.links[0]->endpoint().commands, workers[2].endpoint().commands);
  EXPECT_NE(opened.said.find("worker 1 cannot be used"), std::string::npos) << opened.said;
}

TEST(Nodes, ThatAreCutOffDuringTheHandshakeAreAskedAgain) {
  FakeWorker worker;
  FakeDaemon daemon(offer("one"), [&](const protocol::Hello&, protocol::Batch& batch) {
    batch.add(protocol::Welcome{protocol::kVersion, "one", "", {address(worker)}});
  });
  Proxy proxy(daemon.port());
  proxy.cut_next();
  protocol::ZmqContext zmq(1);
  const auto opened = open(zmq, local(proxy.port()));
  EXPECT_EQ(opened.links.size(), 1U) << opened.said;
  EXPECT_EQ(opened.said, "");
}

TEST(Nodes, WrongConfigurationIsReported) {
  protocol::ZmqContext zmq(1);
  const auto opened = open(zmq, "a:b");
  EXPECT_TRUE(opened.links.empty());
  EXPECT_EQ(opened.said,
            "clique: CLIQUE_NODES: node 'a:b': 'b' is not a port; write a number from 1 to 65535 after the "
            "colon\n");
}

/// Plays `cliqued embedded` with a script.
class Embedded : public testing::Test {
 protected:
  Embedded() {
    char pattern[] = "/tmp/clique-embedded-XXXXXX";
    folder = ::mkdtemp(pattern);
  }
  ~Embedded() override { std::filesystem::remove_all(folder); }

  std::string script(const std::string& body) const {
    const auto path = folder / "cliqued";
    std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
    ::chmod(path.c_str(), 0755);
    return path;
  }
  /// A shell command that sends the message as a packet.
  template <typename M>
  static std::string send(const M& message) {
    const protocol::Buffer packet = protocol::encode(message);
    std::string command = "printf '";
    for (const std::byte byte : packet.bytes()) {
      char octal[8];
      std::snprintf(octal, sizeof octal, "\\%03o", std::to_integer<unsigned>(byte));
      command += octal;
    }
    return command + "' >&3\n";
  }
  /// Lists the drivers, and answers requests for workers in this order.
  static std::string play(std::uint32_t drivers, const std::vector<protocol::WorkersStarted>& answers) {
    std::string body;
    for (std::uint32_t id = 0; id < drivers; ++id) body += send(protocol::Driver{id, {}});
    body += send(protocol::WorkersStarted{});
    for (const protocol::WorkersStarted& answer : answers)
      body += "head -c 1 <&3 >/dev/null\n" + send(answer);
    return body;
  }
  std::filesystem::path folder;
  protocol::ZmqContext zmq{1};
};

TEST_F(Embedded, LivesAsLongAsItsLinks) {
  FakeWorker worker;
  const auto ended = folder / "ended";
  const Variable daemon("CLIQUE_DAEMON", script("echo \"$@\" >" + (folder / "arguments").string() + "\n" +
                                                play(1, {{{address(worker)}}}) +
                                                "cat <&3 >/dev/null\ntouch " + ended.string()));
  auto opened = open(zmq, "");
  ASSERT_EQ(opened.links.size(), 1U) << opened.said;
  EXPECT_EQ(opened.links[0]->endpoint().peers, "tcp://127.0.0.1:1234");
  std::string arguments;
  std::getline(std::ifstream(folder / "arguments") >> std::ws, arguments);
  EXPECT_EQ(arguments, "embedded --control-fd 3");
  std::this_thread::sleep_for(50ms);
  EXPECT_FALSE(std::filesystem::exists(ended));
  opened.nodes.clear();
  EXPECT_TRUE(eventually([&] { return std::filesystem::exists(ended); }));
}

TEST_F(Embedded, StartsTheWorkersThatAreNeeded) {
  FakeWorker workers[2];
  const Variable daemon(
      "CLIQUE_DAEMON",
      script(play(3, {{{address(workers[0], 2)}}, {{address(workers[1], 0)}}}) + "cat <&3 >/dev/null"));
  const Variable none("CLIQUE_NODES", "");
  const auto nodes = find_nodes(zmq);
  ASSERT_EQ(nodes.size(), 1U);
  ASSERT_EQ(nodes[0]->drivers().size(), 3U);
  EXPECT_EQ(nodes[0]->link(2).endpoint().commands, workers[0].endpoint().commands);
  EXPECT_EQ(nodes[0]->link(0).endpoint().commands, workers[1].endpoint().commands);
}

TEST_F(Embedded, OpensSeveralWorkersWithOneRequest) {
  FakeWorker workers[2];
  // The first answer has come before the second driver is looked at.
  const protocol::WorkersStarted both{{address(workers[1], 1), address(workers[0], 0)}};
  const Variable daemon("CLIQUE_DAEMON", script(play(2, {both}) + "cat <&3 >/dev/null"));
  const Variable none("CLIQUE_NODES", "");
  const auto nodes = find_nodes(zmq);
  ASSERT_EQ(nodes.size(), 1U);
  EXPECT_EQ(nodes[0]->open(std::array<std::size_t, 2>{0, 1}), std::vector<std::string>(2));
  EXPECT_EQ(nodes[0]->link(1).endpoint().commands, workers[1].endpoint().commands);
}

TEST_F(Embedded, AsksAgainForAWorkerThatCouldNotBeStarted) {
  FakeWorker worker;
  const protocol::WorkersStarted refusal{{}, {{0, "the GPU is full"}}};
  const Variable daemon("CLIQUE_DAEMON",
                        script(play(1, {refusal, {{address(worker)}}}) + "cat <&3 >/dev/null"));
  const Variable none("CLIQUE_NODES", "");
  const auto nodes = find_nodes(zmq);
  ASSERT_EQ(nodes.size(), 1U);
  testing::internal::CaptureStderr();
  try {
    nodes[0]->link(0);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), CL_DEVICE_NOT_AVAILABLE);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "clique: the GPU is full\n");
  EXPECT_EQ(nodes[0]->link(0).endpoint().commands, worker.endpoint().commands);
}

TEST_F(Embedded, SaysWhyItCannotBe) {
  {
    const Variable daemon("CLIQUE_DAEMON", (folder / "missing").string());
    EXPECT_NE(open(zmq, "").said.find("which is not an executable file"), std::string::npos);
  }
  const Variable daemon("CLIQUE_DAEMON", script("printf '\\221\\243why' >&3"));
  EXPECT_EQ(open(zmq, "").said,
            "clique: no node is configured, and no worker could be started on this host: why\n");
  script("exit 1");
  EXPECT_NE(open(zmq, "").said.find("ended before its workers were ready"), std::string::npos);
  script("printf 'x' >&3");
  EXPECT_NE(open(zmq, "").said.find("sent a message that cannot be understood"), std::string::npos);
}

TEST(Nodes, MustNameHostsForOtherNodes) {
  FakeWorker worker;
  for (const char* advertise : {"a;b", "127.0.0.1:1;127.0.0.1", "../socket", "a\nb"}) {
    const FakeDaemon daemon(offer("liar"), [&](const protocol::Hello&, protocol::Batch& batch) {
      batch.add(protocol::Welcome{protocol::kVersion, "liar", advertise, {address(worker)}});
    });
    protocol::ZmqContext zmq(1);
    const Opened opened = open(zmq, local(daemon.port()));
    EXPECT_TRUE(opened.links.empty());
    EXPECT_NE(opened.said.find("neither a host name nor an address"), std::string::npos) << opened.said;
    EXPECT_EQ(std::count(opened.said.begin(), opened.said.end(), '\n'), 1) << opened.said;
  }
}

TEST(Nodes, CannotHaveAnyNumberOfWorkers) {
  const FakeDaemon daemon(offer("liar"), [&](const protocol::Hello&, protocol::Batch& batch) {
    batch.add(protocol::Welcome{protocol::kVersion, "liar", "", std::vector<protocol::WorkerAddress>(10000)});
  });
  protocol::ZmqContext zmq(1);
  const Opened opened = open(zmq, local(daemon.port()));
  EXPECT_TRUE(opened.links.empty());
  EXPECT_NE(opened.said.find("10000 workers"), std::string::npos) << opened.said;
}

TEST(Nodes, GiveReasonsThatStayOnOneLine) {
  const FakeDaemon daemon(offer("liar"), [&](const protocol::Hello&, protocol::Batch& batch) {
    batch.add(protocol::Refused{"no\nclique: all is well\x1b[2J"});
  });
  protocol::ZmqContext zmq(1);
  const Opened opened = open(zmq, local(daemon.port()));
  EXPECT_NE(opened.said.find("no\\nclique: all is well\\x1b[2J"), std::string::npos) << opened.said;
}

}  // namespace
}  // namespace clique::icd::test
