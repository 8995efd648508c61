// Clients that die, and the clients after them.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "nodes.hpp"

namespace clique::test {

/// The processes that are killed. They transfer data until then.
class ClientProcess : public ApiTest {};

TEST_F(ClientProcess, DISABLED_Transfers) {
  std::vector<char> data(64U << 20U, 'x');
  const Mem mem = buffer<char>(data.size());
  for (int round = 0; round < 10'000; ++round) {
    ASSERT_CL(clEnqueueWriteBuffer(queue, mem, CL_FALSE, 0, data.size(), data.data(), 0, nullptr, nullptr));
    ASSERT_CL(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, data.size(), data.data(), 0, nullptr, nullptr));
    std::fprintf(stderr, "transferred\n");
  }
}

TEST_F(ClientProcess, DISABLED_EndsInOrder) {
  const cl_uint value = 5;
  EXPECT_EQ(std::vector<cl_uint>{5}, read<cl_uint>(buffer(1, &value), 1));
}

class LostClient : public ::testing::Test {
 protected:
  static bool transfers(const Child& client, int times = 1) {
    return eventually(std::chrono::seconds(60),
                      [&] {
                        const std::string text = client.output();
                        size_t found = 0;
                        for (int i = 0; i < times; ++i) {
                          found = text.find("transferred\n", found + 1);
                          if (found == std::string::npos) return !alive(client.pid());
                        }
                        return true;
                      }) &&
           alive(client.pid());
  }
  static void expect_works() {
    const cl_uint value = 11;
    ASSERT_NE(nullptr, platform());
    ASSERT_EQ(1U, devices().size());
    cl_int err = CL_SUCCESS;
    const Context context(clCreateContext(nullptr, 1, devices().data(), nullptr, nullptr, &err));
    ASSERT_EQ(CL_SUCCESS, err);
    const Queue queue(clCreateCommandQueueWithProperties(context, devices()[0], nullptr, &err));
    ASSERT_EQ(CL_SUCCESS, err);
    const Mem mem(clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof value, nullptr, &err));
    ASSERT_EQ(CL_SUCCESS, err);
    ASSERT_CL(clEnqueueWriteBuffer(queue, mem, CL_TRUE, 0, sizeof value, &value, 0, nullptr, nullptr));
    cl_uint back = 0;
    ASSERT_CL(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, sizeof value, &back, 0, nullptr, nullptr));
    EXPECT_EQ(value, back);
  }
};

TEST_F(LostClient, KilledDuringTransfers) {
  const Node node("alpha");
  Child client = start_test("ClientProcess.DISABLED_Transfers", {{"CLIQUE_NODES", node.address()}});
  ASSERT_TRUE(transfers(client, 2)) << client.output();
  const pid_t worker = node.worker(client.pid());
  ASSERT_TRUE(alive(worker));
  client.kill();
  EXPECT_TRUE(eventually(std::chrono::seconds(20), [&] { return !alive(worker); })) << node.log();

  use_nodes({node.address()});
  expect_works();
}

TEST_F(LostClient, OneOfSeveralIsKilled) {
  const Node node("alpha");
  Child killed = start_test("ClientProcess.DISABLED_Transfers", {{"CLIQUE_NODES", node.address()}});
  Child survivor = start_test("ClientProcess.DISABLED_Transfers", {{"CLIQUE_NODES", node.address()}});
  ASSERT_TRUE(transfers(killed)) << killed.output();
  ASSERT_TRUE(transfers(survivor)) << survivor.output();
  const auto lines = [&] {
    const std::string text = survivor.output();
    return std::count(text.begin(), text.end(), '\n');
  };
  const auto before = lines();
  killed.kill();
  EXPECT_TRUE(eventually(std::chrono::seconds(20), [&] { return lines() > before + 3; }))
      << survivor.output();
}

TEST_F(LostClient, EndInOrderLeavesNoWorker) {
  const Node node("alpha");
  Child client = start_test("ClientProcess.DISABLED_EndsInOrder", {{"CLIQUE_NODES", node.address()}});
  const pid_t pid = client.pid();
  EXPECT_EQ(0, client.wait(std::chrono::seconds(60))) << client.output();
  EXPECT_EQ(std::string::npos, client.output().find("clique: ")) << client.output();
  const pid_t worker = node.worker(pid);
  EXPECT_TRUE(eventually(std::chrono::seconds(20), [&] { return !alive(worker); })) << node.log();
}

/// Private workers, which only belong to their client. The tests find them by an environment variable of the
/// client.
class Embedded : public LostClient {
 protected:
  static constexpr const char* kMark = "CLIQUE_TEST_MARK";
  const std::string mark = std::to_string(::getpid());

  Child start(const char* test) const { return start_test(test, {{"CLIQUE_NODES", ""}, {kMark, mark}}); }
  bool some_left() const { return !cliqued_processes_with(kMark, mark).empty(); }
};

TEST_F(Embedded, KilledClientLeavesNoWorker) {
  Child client = start("ClientProcess.DISABLED_Transfers");
  ASSERT_TRUE(transfers(client)) << client.output();
  ASSERT_TRUE(some_left());
  client.kill();
  EXPECT_TRUE(eventually(std::chrono::seconds(20), [&] { return !some_left(); }));
}

TEST_F(Embedded, EndInOrderLeavesNoWorker) {
  Child client = start("ClientProcess.DISABLED_EndsInOrder");
  EXPECT_EQ(0, client.wait(std::chrono::seconds(60))) << client.output();
  EXPECT_EQ(std::string::npos, client.output().find("clique: ")) << client.output();
  EXPECT_TRUE(eventually(std::chrono::seconds(20), [&] { return !some_left(); }));
}

}  // namespace clique::test
