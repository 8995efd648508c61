// clFlush: OpenCL 3.0, section 5.15.
#include "helpers.hpp"

namespace clique::test::suite_clFlush {

class clFlush : public ApiTest {};

TEST_F(clFlush, GivenEnqueuedCommandsThenTheyCompleteWithoutFurtherCalls) {
  const Program program = build("kernel void k(global int* out) { *out += 1; }");
  const Kernel k = kernel(program, "k");
  const int zero = 0;
  const Mem mem = buffer<int>(1, &zero);
  set_args(k, mem);
  Event last;
  for (int i = 0; i < 10; ++i) ASSERT_CL(launch(queue, k, 1, {}, last.out()));
  ASSERT_CL(::clFlush(queue));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (status_of(last) != CL_COMPLETE && std::chrono::steady_clock::now() < deadline) {
  }
  EXPECT_EQ(CL_COMPLETE, status_of(last));
  EXPECT_EQ(10, read<int>(mem, 1).front());
}

TEST_F(clFlush, GivenBlockedCommandThenReturnsAtOnce) {
  Gate gate(context);
  Event marker;
  ASSERT_CL(clEnqueueMarkerWithWaitList(queue, 1, gate.ptr(), marker.out()));
  EXPECT_CL(::clFlush(queue));
  EXPECT_GT(status_of(marker), CL_RUNNING);
}

TEST_F(clFlush, GivenEmptyQueueThenSucceeds) {
  EXPECT_CL(::clFlush(queue));
  EXPECT_CL(::clFlush(queue));
}

TEST_F(clFlush, GivenNullQueueThenInvalidCommandQueue) {
  EXPECT_EQ(CL_INVALID_COMMAND_QUEUE, ::clFlush(nullptr));
}

}  // namespace clique::test::suite_clFlush
