// clRetainCommandQueue: OpenCL 3.0, section 5.1.
#include "checks.hpp"

namespace clique::test {

class clRetainCommandQueue : public ApiTest {};

TEST_F(clRetainCommandQueue, GivenQueueThenReferenceIsAdded) {
  ASSERT_CL(::clRetainCommandQueue(queue));
  EXPECT_EQ(2U, info<cl_uint>(clGetCommandQueueInfo, queue.get(), CL_QUEUE_REFERENCE_COUNT));
  ASSERT_CL(clReleaseCommandQueue(queue));
  EXPECT_EQ(1U, info<cl_uint>(clGetCommandQueueInfo, queue.get(), CL_QUEUE_REFERENCE_COUNT));
}

TEST_F(clRetainCommandQueue, GivenNullThenInvalidCommandQueue) {
  EXPECT_EQ(CL_INVALID_COMMAND_QUEUE, ::clRetainCommandQueue(nullptr));
}

}  // namespace clique::test
