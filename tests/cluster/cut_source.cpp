// Cutting off a node that was about to send content to another node.
#include "links.hpp"

namespace clique::test {

using CutSource = LinkTest;

TEST_F(CutSource, WhoWaitsForItFailsAndCanHaveItFromAnother) {
  constexpr size_t size = 8U << 20U;
  const Mem mem = buffer<cl_uint>(size / sizeof(cl_uint));
  Gate gate(context);
  const cl_uint value = 77;
  std::vector<Event> events(3);
  ASSERT_CL(
      clEnqueueFillBuffer(queues[0], mem, &value, sizeof value, 0, size, 1, gate.ptr(), events[0].out()));
  for (size_t node = 1; node < queues.size(); ++node)
    ASSERT_CL(clEnqueueMigrateMemObjects(queues[node], 1, mem.ptr(), 0, 0, nullptr, events[node].out()));
  for (const Queue& one : queues) ASSERT_CL(clFlush(one));

  in_node(1, "ip link set eth0 down");
  for (size_t node = 1; node < queues.size(); ++node) {
    EXPECT_NE(CL_SUCCESS, TIMED(clWaitForEvents(1, events[node].ptr())));
    EXPECT_LT(status_of(events[node]), 0);
  }
  gate.open();
  ASSERT_CL(clWaitForEvents(1, events[0].ptr()));
  std::vector<cl_uint> data(size / sizeof(cl_uint));
  ASSERT_CL(
      TIMED(clEnqueueReadBuffer(queues[2], mem, CL_TRUE, 0, size, data.data(), 1, events[0].ptr(), nullptr)));
  EXPECT_EQ(std::vector<cl_uint>(data.size(), value), data);
}

}  // namespace clique::test
