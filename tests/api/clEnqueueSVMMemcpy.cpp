// clEnqueueSVMMemcpy: OpenCL 3.0, section 5.6.2.
#include "svm.hpp"

namespace clique::test {

class clEnqueueSVMMemcpy : public WithoutSvmTest {};

TEST_F(clEnqueueSVMMemcpy, GivenDeviceWithoutSvmThenInvalidOperationAndNothingHappens) {
  unsigned char target[64] = {};
  for (const cl_device_id each : devices()) {
    const Queue on = make_queue(0, each);
    EXPECT_EQ(CL_INVALID_OPERATION,
              ::clEnqueueSVMMemcpy(on, CL_TRUE, target, memory.data(), 64, 0, nullptr, nullptr));
    EXPECT_CL(clFinish(on));
  }
  EXPECT_EQ(std::vector<unsigned char>(64, 0xA5), memory);
}

TEST_F(clEnqueueSVMMemcpy, GivenNullThenInvalidCommandQueue) {
  unsigned char target[64] = {};
  EXPECT_EQ(CL_INVALID_COMMAND_QUEUE,
            ::clEnqueueSVMMemcpy(nullptr, CL_TRUE, target, memory.data(), 64, 0, nullptr, nullptr));
}

}  // namespace clique::test
