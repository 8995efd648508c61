// A process that dies, whichever it is, leaves nothing behind.
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <msgpack.hpp>

#include "harness.hpp"
#include "ids.hpp"
#include "protocol/transport/authentication.hpp"

namespace clique::test {
namespace {

constexpr const char* kEndless =
    R"(kernel void endless(global volatile int* flag) { while (flag[0] == 0) flag[1]++; })";

/// Occupies the device with a kernel that never completes.
void occupy(Client& client) {
  constexpr CommandId kFill = 99, kLaunch = 100;
  ASSERT_EQ(client.set_up(kEndless).status, 0);
  client.send(CreateBuffer{kBuffer, kContext, kReadWrite, 64},
              FillBuffer{command(kFill), kBuffer, Bytes(4), 0, 64},
              CreateKernel{kKernel, kProgram, "endless"},
              RunKernel{command(kLaunch), kKernel, {object_arg(0, kBuffer)}, {}, {1}, {}});
  client.ended(kFill);
}

TEST(Processes, GivenBusyKernelWhenTheClientVanishesThenItsWorkerEnds) {
  const Node node;
  pid_t worker = -1;
  {
    Client client(node, "vanisher");
    worker = node.worker_of("vanisher");
    occupy(client);
  }
  EXPECT_TRUE(eventually([&] { return !alive(worker); }));
  EXPECT_TRUE(eventually([&] { return node.logged("the client is gone"); }));
}

TEST(Processes, GivenBusyKernelWhenTheClientSaysGoodbyeThenItsWorkerEnds) {
  const Node node;
  Client client(node, "leaver");
  const pid_t worker = node.worker_of("leaver");
  occupy(client);
  client.send(Goodbye{});
  EXPECT_TRUE(eventually([&] { return !alive(worker); }));
}

// Sanitizers do not support a child of a process with threads.
#if !defined(CLIQUE_SANITIZE_ADDRESS) && !defined(CLIQUE_SANITIZE_THREAD)
TEST(Processes, GivenClientProcessKilledThenItsWorkerEnds) {
  const Node node;
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  // ZeroMQ does not survive a fork, so the child starts from its own beginning.
  const WorkerAddress address = hello(node.endpoint(), "child").workers.at(0);
  const pid_t child = ::fork();
  if (child == 0) {
    zmq::context_t context;
    for (const std::uint16_t port : {address.commands, address.reports}) {
      auto* socket = new zmq::socket_t(context, zmq::socket_type::dealer);
      present(*socket, address.client);
      socket->connect("tcp://127.0.0.1:" + std::to_string(port));
      send(*socket, Attach{});
      if (port == address.reports) {
        zmq::message_t attached;
        static_cast<void>(socket->recv(attached));
      }
    }
    static_cast<void>(!::write(ready[1], "x", 1));
    ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  const pid_t worker = node.worker_of("child");
  EXPECT_TRUE(alive(worker));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(eventually([&] { return !alive(worker); }));
  ::close(ready[0]);
  ::close(ready[1]);
}
#endif

TEST(Processes, GivenDaemonKilledThenNoWorkerIsLeft) {
  Node node;
  Client idle(node);
  Client busy(node);
  occupy(busy);
  ASSERT_TRUE(eventually([&] { return node.workers().size() == 3; }));
  const auto workers = node.workers();
  node.signal(SIGKILL);
  node.wait();
  EXPECT_TRUE(eventually([&] {
    for (const pid_t worker : workers)
      if (alive(worker)) return false;
    return true;
  }));
}

TEST(Processes, GivenWorkerKilledThenOnlyItsSessionEnds) {
  const Node node;
  Client client(node, "victim");
  client.set_up();
  EXPECT_EQ(client.finish().status, 0);
  Client other(node);
  other.set_up();
  ::kill(node.worker_of("victim"), SIGKILL);
  EXPECT_TRUE(eventually([&] { return node.logged("killed by signal"); }));
  EXPECT_EQ(other.finish().status, 0);
  Client later(node);
  later.set_up();
  EXPECT_EQ(later.finish().status, 0);
}

TEST(Processes, GivenWarmWorkerKilledThenItIsReplaced) {
  const Node node;
  Client client(node, "user");
  const pid_t worker = node.worker_of("user");
  ASSERT_TRUE(eventually([&] { return node.workers().size() == 2; }));
  for (const pid_t warm : node.workers())
    if (warm != worker) ::kill(warm, SIGKILL);
  ASSERT_TRUE(eventually([&] { return node.logged("killed by signal"); }));
  // One that was not ready yet when it was killed looks like a driver that cannot start, for a moment.
  std::optional<Client> later;
  ASSERT_TRUE(eventually([&] {
    try {
      later.emplace(node);
    } catch (const std::runtime_error&) {
    }
    return later.has_value();
  })) << node.log();
  later->set_up();
  EXPECT_EQ(later->finish().status, 0);
}

TEST(Processes, GivenSignalsOfATerminalAndOfPipesThenSessionsGoOn) {
  const Node node;
  Client client(node, "user");
  ASSERT_EQ(client.set_up().status, 0);
  for (const int signal : {SIGHUP, SIGPIPE}) {
    node.signal(signal);
    ::kill(node.worker_of("user"), signal);
  }
  EXPECT_TRUE(eventually([&] { return node.logged("SIGHUP"); })) << node.log();
  EXPECT_TRUE(alive(node.pid()));
  EXPECT_EQ(client.finish().status, 0);
  Client later(node);
  EXPECT_EQ(later.set_up().status, 0);
}

TEST(Processes, GivenPrivateWorkersWhenTheChannelClosesThenTheyEnd) {
  PrivateWorkers workers;
  EXPECT_FALSE(workers.drivers().at(0).name.empty());
  EXPECT_FALSE(workers.drivers()[0].vendor.empty());
  EXPECT_FALSE(workers.drivers()[0].devices.empty());
  Client client(workers.first());
  client.set_up();
  EXPECT_EQ(client.finish().status, 0);
  const int status = workers.close();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  // The worker's end is the end of the connection: nothing answers any more.
  client.send(Finish{kRequest, kInOrder});
  EXPECT_FALSE(client.reports.comes<Finished>(std::chrono::milliseconds(300)));
}

TEST(Processes, GivenAPrivateWorkerThatIsNotUsedThenAnotherOneComes) {
  const PrivateWorkers workers;
  const WorkerAddress unused = workers.first();
  const WorkerAddress address = workers.first();
  EXPECT_NE(address.commands, unused.commands);
  EXPECT_EQ(workers.processes().size(), 1U);
  Client client(address);
  client.set_up();
  EXPECT_EQ(client.finish().status, 0);
}

}  // namespace
}  // namespace clique::test
