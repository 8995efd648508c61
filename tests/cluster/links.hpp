// Shared by tests that cut links between hosts: no connection is closed, but packets do not arrive any more.
// The nodes must be in network namespaces of their own, which tests/cluster/with_nodes creates if it is
// permitted to.
#pragma once

#include <chrono>
#include <cstdlib>
#include <numeric>
#include <sstream>

#include "../api/helpers.hpp"

namespace clique::test {

class LinkTest : public ApiTest {
 protected:
  static constexpr size_t count = 4096;
  /// A silent connection is noticed after 5 seconds and given up after one more; tests share the processor.
  static constexpr std::chrono::seconds limit{12};

  void SetUp() override {
    const char* list = std::getenv("CLIQUE_TEST_NAMESPACES");
    if (list == nullptr) GTEST_SKIP() << "the nodes have no network namespaces of their own";
    std::istringstream text(list);
    for (std::string pid; std::getline(text, pid, ',');) namespaces.push_back(pid);
    ApiTest::SetUp();
    if (HasFatalFailure()) return;
    ASSERT_GE(devices().size(), 3U);
    program = build("kernel void add(global uint* data, uint n) { data[get_global_id(0)] += n; }");
    add = kernel(program, "add");
    for (cl_device_id one : devices()) queues.push_back(make_queue(0, one));
    // Runs once on every node, so that all objects exist there.
    expect_round_works();
  }

  /// Runs a command in the network namespace of a node.
  void in_node(size_t node, const std::string& command) {
    const std::string line = "nsenter --net=/proc/" + namespaces[node] + "/ns/net " + command;
    ASSERT_EQ(0, std::system(line.c_str())) << line;
  }
  /// Runs a command in the namespace of this process, which also has the bridge between the nodes.
  static void here(const std::string& command) { ASSERT_EQ(0, std::system(command.c_str())) << command; }

  /// Enqueues data[i] += n on a node.
  cl_int enqueue_add(size_t node, cl_mem data, cl_uint n, cl_event* event = nullptr) {
    set_args(add, data, n);
    return launch(queues[node], add, count, {}, event);
  }
  /// Expects that a buffer which all `nodes` change in turn has the right content.
  void expect_round_works(const std::vector<size_t>& nodes = {0, 1, 2}) {
    std::vector<cl_uint> data(count);
    std::iota(data.begin(), data.end(), 0U);
    const Mem mem = buffer(count, data.data());
    cl_uint sum = 0;
    for (const size_t node : nodes) {
      Event done;
      ASSERT_CL(enqueue_add(node, mem, static_cast<cl_uint>(node) + 1, done.out()));
      ASSERT_CL(clWaitForEvents(1, done.ptr()));
      sum += static_cast<cl_uint>(node) + 1;
    }
    std::vector<cl_uint> result(count);
    ASSERT_CL(clEnqueueReadBuffer(queues[nodes.back()], mem, CL_TRUE, 0, count * sizeof(cl_uint),
                                  result.data(), 0, nullptr, nullptr));
    for (cl_uint i = 0; i < count; ++i) ASSERT_EQ(data[i] + sum, result[i]) << "at " << i;
  }
  /// The call's status. Expects that the call returns in time.
  template <typename Call>
  static cl_int timed(const char* what, Call&& call) {
    const auto start = std::chrono::steady_clock::now();
    const cl_int status = call();
    EXPECT_LT(std::chrono::steady_clock::now() - start, limit) << what;
    return status;
  }
  std::vector<std::string> namespaces;
  Program program;
  Kernel add;
  std::vector<Queue> queues;
};

#define TIMED(call) timed(#call, [&] { return (call); })

}  // namespace clique::test
