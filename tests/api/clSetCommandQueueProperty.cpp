// clSetCommandQueueProperty: OpenCL 3.0, section 5.1 (deprecated).
#include "checks.hpp"

namespace clique::test::suite_clSetCommandQueueProperty {

class clSetCommandQueueProperty : public ApiTest {
 protected:
  cl_command_queue_properties properties() {
    return info<cl_command_queue_properties>(clGetCommandQueueInfo, queue.get(), CL_QUEUE_PROPERTIES);
  }
};

// A driver may refuse to change properties, but then it returns an error and leaves the queue unchanged.
TEST_F(clSetCommandQueueProperty, GivenProfilingThenItChangesOrTheCallIsNotSupported) {
  const auto before = properties();
  cl_command_queue_properties old = 0;
  const cl_int err = ::clSetCommandQueueProperty(queue, CL_QUEUE_PROFILING_ENABLE, CL_FALSE, &old);
  if (err == CL_SUCCESS) {
    EXPECT_EQ(before, old);
    EXPECT_EQ(before & ~cl_command_queue_properties{CL_QUEUE_PROFILING_ENABLE}, properties());
  } else {
    EXPECT_EQ(CL_INVALID_OPERATION, err);
    EXPECT_EQ(before, properties());
  }
  EXPECT_CL(clFinish(queue));
}

TEST_F(clSetCommandQueueProperty, GivenUnknownPropertyThenAnError) {
  const cl_int err =
      ::clSetCommandQueueProperty(queue, cl_command_queue_properties{1} << 20, CL_TRUE, nullptr);
  EXPECT_TRUE(err == CL_INVALID_VALUE || err == CL_INVALID_OPERATION) << err;
}

TEST_F(clSetCommandQueueProperty, GivenNullThenInvalidCommandQueue) {
  EXPECT_EQ(CL_INVALID_COMMAND_QUEUE,
            ::clSetCommandQueueProperty(nullptr, CL_QUEUE_PROFILING_ENABLE, CL_TRUE, nullptr));
}

}  // namespace clique::test::suite_clSetCommandQueueProperty
