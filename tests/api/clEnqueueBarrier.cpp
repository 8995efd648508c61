// clEnqueueBarrier: OpenCL 3.0, deprecated entry points (OpenCL 1.1, section 5.9).
#include "helpers.hpp"

namespace clique::test::suite_clEnqueueBarrier {

class clEnqueueBarrier : public ApiTest {};

TEST_F(clEnqueueBarrier, GivenOutOfOrderQueueThenLaterCommandsWaitForEarlierOnes) {
  const Queue any_order = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const int values[] = {1, 2, 3};
  const Mem mem = buffer<int>(1, &values[0]);
  Gate gate(context);
  Event second;
  ASSERT_CL(
      clEnqueueWriteBuffer(any_order, mem, CL_FALSE, 0, sizeof(int), &values[1], 1, gate.ptr(), nullptr));
  ASSERT_CL(::clEnqueueBarrier(any_order));
  ASSERT_CL(
      clEnqueueWriteBuffer(any_order, mem, CL_FALSE, 0, sizeof(int), &values[2], 0, nullptr, second.out()));
  ASSERT_CL(clFlush(any_order));
  EXPECT_GT(status_of(second), CL_RUNNING);
  gate.open();
  ASSERT_CL(clFinish(any_order));
  EXPECT_EQ(3, read<int>(mem, 1).front());
}

TEST_F(clEnqueueBarrier, GivenInOrderQueueThenSucceeds) {
  EXPECT_CL(::clEnqueueBarrier(queue));
  EXPECT_CL(clFinish(queue));
}

TEST_F(clEnqueueBarrier, GivenNullQueueThenInvalidCommandQueue) {
  EXPECT_EQ(CL_INVALID_COMMAND_QUEUE, ::clEnqueueBarrier(nullptr));
}

}  // namespace clique::test::suite_clEnqueueBarrier
