// How a node stops: sessions that run may finish, new ones are refused.
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "harness.hpp"
#include "protocol/fd.hpp"

namespace clique::test {
namespace {

/// What a client is told who asks for a session.
std::string refusal(const Node& node) {
  try {
    hello(node.endpoint(), "late");
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

bool ended_well(Node& node) {
  const int status = node.wait();
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(Draining, GivenASessionWhenTerminatedThenItFinishesAndOthersAreRefused) {
  Node node({"--name", "alpha"});
  std::optional<Client> client(std::in_place, node, "a runner");
  const pid_t worker = node.worker_of("a runner");
  node.signal(SIGTERM);
  EXPECT_TRUE(eventually([&] { return node.logged("draining: no new sessions; 1 running"); }));
  EXPECT_NE(refusal(node).find("node alpha is draining"), std::string::npos) << refusal(node);
  // Of which it takes as little notice as before.
  node.signal(SIGHUP);
  // The idle worker is gone, the session is not.
  EXPECT_TRUE(eventually([&] { return node.workers() == std::vector<pid_t>{worker}; }));
  EXPECT_EQ(client->set_up("kernel void nothing() {}").status, 0);
  EXPECT_EQ(client->finish().status, 0);
  EXPECT_FALSE(client->reports.comes<SessionEnded>(std::chrono::milliseconds(200)));
  client.reset();
  EXPECT_TRUE(ended_well(node)) << node.log();
  EXPECT_FALSE(alive(worker));
}

TEST(Draining, GivenNoSessionWhenTerminatedThenItEndsAtOnce) {
  Node node({"--drain-timeout", "600"});
  node.signal(SIGTERM);
  EXPECT_TRUE(ended_well(node));
}

/// What ends the sessions after all.
class DrainingEnds : public testing::TestWithParam<int> {};

TEST_P(DrainingEnds, GivenASessionWhenThereIsNoMoreTimeThenItIsEndedWithTheReason) {
  const int signal = GetParam();
  Node node({"--name", "alpha", "--drain-timeout", signal == 0 ? "1" : "600"});
  Client client(node, "a runner");
  const pid_t worker = node.worker_of("a runner");
  node.signal(SIGTERM);
  EXPECT_TRUE(eventually([&] { return node.logged("draining"); }));
  if (signal != 0) node.signal(signal);
  EXPECT_EQ(client.next<SessionEnded>().reason, "node alpha was stopped");
  EXPECT_TRUE(ended_well(node)) << node.log();
  EXPECT_TRUE(eventually([&] { return !alive(worker); }));
}
INSTANTIATE_TEST_SUITE_P(By, DrainingEnds, testing::Values(SIGTERM, SIGINT, 0),
                         [](const testing::TestParamInfo<int>& info) {
                           return info.param == SIGTERM  ? "SIGTERM"
                                  : info.param == SIGINT ? "SIGINT"
                                                         : "Timeout";
                         });

TEST(Draining, GivenASessionWhenInterruptedThenNobodyIsWaitedFor) {
  Node node({"--drain-timeout", "600"});
  Client client(node);
  node.signal(SIGINT);
  client.next<SessionEnded>();
  EXPECT_TRUE(ended_well(node));
}

TEST(Draining, GivenSystemdWhenTerminatedThenItIsToldThatAndForHowLong) {
  std::string folder = std::filesystem::temp_directory_path() / "cliqued-notify-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  (folder + "/socket").copy(address.sun_path, sizeof address.sun_path - 1);
  const Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const auto notice = [&] {
    char text[256] = "";
    return std::string(
        text, static_cast<std::size_t>(std::max<ssize_t>(::recv(socket.get(), text, sizeof text, 0), 0)));
  };
  ::setenv("NOTIFY_SOCKET", address.sun_path, 1);
  Node node({"--drain-timeout", "100"});
  ::unsetenv("NOTIFY_SOCKET");
  EXPECT_EQ(notice(), "READY=1");
  node.signal(SIGTERM);
  EXPECT_EQ(notice(), "STOPPING=1\nEXTEND_TIMEOUT_USEC=110000000");
  EXPECT_TRUE(ended_well(node));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace clique::test
