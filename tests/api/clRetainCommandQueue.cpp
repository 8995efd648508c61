// clRetainCommandQueue: OpenCL 3.0, section 5.1.
#include "checks.hpp"

namespace clique::test::suite_clRetainCommandQueue {

class clRetainCommandQueue : public ApiTest {};

TEST_F(clRetainCommandQueue, GivenQueueThenReferenceIsAdded) {
  expect_counted_references(queue.get(), ::clRetainCommandQueue, ::clReleaseCommandQueue,
                            clGetCommandQueueInfo, CL_QUEUE_REFERENCE_COUNT);
}

TEST_F(clRetainCommandQueue, GivenNullThenInvalidCommandQueue) {
  EXPECT_EQ(CL_INVALID_COMMAND_QUEUE, ::clRetainCommandQueue(nullptr));
}

}  // namespace clique::test::suite_clRetainCommandQueue
