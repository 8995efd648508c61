// clReleaseCommandQueue: OpenCL 3.0, section 5.1.
#include "checks.hpp"

namespace clique::test::suite_clReleaseCommandQueue {

class clReleaseCommandQueue : public ApiTest {};

TEST_F(clReleaseCommandQueue, GivenRetainedQueueThenItStaysUsable) {
  ASSERT_CL(clRetainCommandQueue(queue));
  ASSERT_CL(::clReleaseCommandQueue(queue));
  EXPECT_EQ(1U, info<cl_uint>(clGetCommandQueueInfo, queue.get(), CL_QUEUE_REFERENCE_COUNT));
  EXPECT_CL(clFinish(queue));
}

TEST_F(clReleaseCommandQueue, GivenCommandsNotFlushedThenReleaseFlushesThem) {
  const std::vector<cl_int> data = {2, 7, 1, 8};
  const Mem mem = buffer<cl_int>(data.size());
  Event event;
  Queue other = make_queue();
  ASSERT_CL(clEnqueueWriteBuffer(other, mem, CL_FALSE, 0, data.size() * sizeof(cl_int), data.data(), 0,
                                 nullptr, event.out()));
  ASSERT_CL(::clReleaseCommandQueue(other.release_ownership()));
  EXPECT_TRUE(eventually([&] { return status_of(event) == CL_COMPLETE; }));
  EXPECT_EQ(data, read<cl_int>(mem, data.size()));
}

TEST_F(clReleaseCommandQueue, GivenCommandThatWaitsThenItRunsAfterTheReleaseAllTheSame) {
  const cl_int value = 42;
  const Mem mem = buffer<cl_int>(1);
  const Event gate = user_event();
  Event event;
  Queue other = make_queue();
  ASSERT_CL(clEnqueueWriteBuffer(other, mem, CL_FALSE, 0, sizeof value, &value, 1, gate.ptr(), event.out()));
  ASSERT_CL(::clReleaseCommandQueue(other.release_ownership()));
  ASSERT_CL(clSetUserEventStatus(gate, CL_COMPLETE));
  ASSERT_CL(clWaitForEvents(1, event.ptr()));
  EXPECT_EQ(value, read<cl_int>(mem, 1).front());
}

TEST_F(clReleaseCommandQueue, GivenNullThenInvalidCommandQueue) {
  EXPECT_EQ(CL_INVALID_COMMAND_QUEUE, ::clReleaseCommandQueue(nullptr));
}

}  // namespace clique::test::suite_clReleaseCommandQueue
