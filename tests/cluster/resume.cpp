// Cutting the link between the client and a node, or between two nodes, for a while.
#include "links.hpp"

#include <thread>

namespace clique::test {

class Resume : public LinkTest {
 protected:
  /// Longer than it takes to notice the cut.
  static constexpr std::chrono::seconds cut{7};

  void cut_for_a_while(size_t node) {
    in_node(node, "ip link set eth0 down");
    std::this_thread::sleep_for(cut);
    in_node(node, "ip link set eth0 up");
  }
};

TEST_F(Resume, WhatWasUnderWayEndsWell) {
  Gate gate(context);
  std::vector<cl_uint> zeros(count);
  const Mem mem = buffer(count, zeros.data());
  Event pending;
  set_args(add, mem, 1U);
  ASSERT_CL(launch(queues[1], add, count, {gate}, pending.out()));
  ASSERT_CL(clFlush(queues[1]));
  in_node(1, "ip link set eth0 down");
  // Both the waiting command and others have to be sent while nothing arrives.
  gate.open();
  for (cl_uint i = 0; i < 100; ++i) ASSERT_CL(enqueue_add(1, mem, 1U));
  ASSERT_CL(clFlush(queues[1]));
  std::thread mending([&] {
    std::this_thread::sleep_for(cut);
    in_node(1, "ip link set eth0 up");
  });
  std::vector<cl_uint> result(count);
  EXPECT_CL(clEnqueueReadBuffer(queues[1], mem, CL_TRUE, 0, count * sizeof(cl_uint), result.data(), 0,
                                nullptr, nullptr));
  mending.join();
  EXPECT_CL(clWaitForEvents(1, pending.ptr()));
  EXPECT_EQ(std::vector<cl_uint>(count, 101U), result);
  EXPECT_TRUE(info<cl_bool>(clGetDeviceInfo, devices()[1], CL_DEVICE_AVAILABLE));
  expect_round_works();
}

TEST_F(Resume, NodesReachEachOtherAgain) {
  std::vector<cl_uint> zeros(count);
  const Mem mem = buffer(count, zeros.data());
  ASSERT_CL(enqueue_add(2, mem, 1U));
  ASSERT_CL(clFinish(queues[2]));
  cut_for_a_while(2);
  // Data goes from node to node, in both directions.
  expect_round_works({2, 1, 0, 2});
  ASSERT_CL(enqueue_add(0, mem, 1U));
  std::vector<cl_uint> result(count);
  EXPECT_CL(clEnqueueReadBuffer(queues[0], mem, CL_TRUE, 0, count * sizeof(cl_uint), result.data(), 0,
                                nullptr, nullptr));
  EXPECT_EQ(std::vector<cl_uint>(count, 2U), result);
}

}  // namespace clique::test
