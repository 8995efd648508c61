// Cutting off a node that has a part of the content that the host reads.
#include "links.hpp"

namespace clique::test {

using CutPart = LinkTest;

TEST_F(CutPart, TheReadFailsAndOtherPartsCanStillBeRead) {
  constexpr size_t size = 8U << 20U;
  constexpr size_t part = size / 2;
  const Mem mem = buffer<cl_uint>(size / sizeof(cl_uint));
  for (const cl_uint node : {0U, 1U}) {
    ASSERT_CL(
        clEnqueueFillBuffer(queues[node], mem, &node, sizeof node, node * part, part, 0, nullptr, nullptr));
    ASSERT_CL(clFinish(queues[node]));
  }
  std::vector<cl_uint> data(size / sizeof(cl_uint), 99);
  Gate gate(context);
  Event read;
  ASSERT_CL(clEnqueueReadBuffer(queues[2], mem, CL_FALSE, 0, size, data.data(), 1, gate.ptr(), read.out()));
  ASSERT_CL(clFlush(queues[2]));

  in_node(1, "ip link set eth0 down");
  gate.open();
  EXPECT_NE(CL_SUCCESS, TIMED(clWaitForEvents(1, read.ptr())));
  EXPECT_LT(status_of(read), 0);

  ASSERT_CL(TIMED(clEnqueueReadBuffer(queues[2], mem, CL_TRUE, 0, part, data.data(), 0, nullptr, nullptr)));
  EXPECT_EQ(std::vector<cl_uint>(part / sizeof(cl_uint), 0),
            std::vector<cl_uint>(data.begin(), data.begin() + part / sizeof(cl_uint)));
}

}  // namespace clique::test
