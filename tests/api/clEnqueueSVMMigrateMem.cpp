// clEnqueueSVMMigrateMem: OpenCL 3.0, section 5.6.2.
#include "svm.hpp"

namespace clique::test {

class clEnqueueSVMMigrateMem : public WithoutSvmTest {};

TEST_F(clEnqueueSVMMigrateMem, GivenDeviceWithoutSvmThenInvalidOperationAndNothingHappens) {
  const void* pointers[] = {memory.data()};
  for (const cl_device_id each : devices()) {
    const Queue on = make_queue(0, each);
    EXPECT_EQ(CL_INVALID_OPERATION,
              ::clEnqueueSVMMigrateMem(on, 1, pointers, nullptr, 0, 0, nullptr, nullptr));
    EXPECT_CL(clFinish(on));
  }
  EXPECT_EQ(std::vector<unsigned char>(64, 0xA5), memory);
}

TEST_F(clEnqueueSVMMigrateMem, GivenNullThenInvalidCommandQueue) {
  const void* pointers[] = {memory.data()};
  EXPECT_EQ(CL_INVALID_COMMAND_QUEUE,
            ::clEnqueueSVMMigrateMem(nullptr, 1, pointers, nullptr, 0, 0, nullptr, nullptr));
}

}  // namespace clique::test
