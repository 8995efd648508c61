// Cutting the link between the client and a node.
#include "links.hpp"

namespace clique::test {

using CutLink = LinkTest;

TEST_F(CutLink, PendingCommandsFailAndOtherNodesGoOn) {
  const Gate gate(context);
  const Mem mem = buffer<cl_uint>(count);
  Event pending;
  set_args(add, mem, 1U);
  ASSERT_CL(launch(queues[1], add, count, {gate}, pending.out()));
  ASSERT_CL(clFlush(queues[1]));

  in_node(1, "ip link set eth0 down");
  EXPECT_NE(CL_SUCCESS, TIMED(clWaitForEvents(1, pending.ptr())));
  EXPECT_LT(status_of(pending), 0);
  EXPECT_NE(CL_SUCCESS, TIMED(clFinish(queues[1])));
  EXPECT_FALSE(info<cl_bool>(clGetDeviceInfo, devices()[1], CL_DEVICE_AVAILABLE));
  expect_round_works({0, 2});
}

}  // namespace clique::test
