// clEnqueueSVMMemFill: OpenCL 3.0, section 5.6.2.
#include "svm.hpp"

namespace clique::test {

class clEnqueueSVMMemFill : public WithoutSvmTest {};

TEST_F(clEnqueueSVMMemFill, GivenDeviceWithoutSvmThenInvalidOperationAndNothingHappens) {
  const cl_int pattern = 1;
  for (const cl_device_id each : devices()) {
    const Queue on = make_queue(0, each);
    EXPECT_EQ(CL_INVALID_OPERATION,
              ::clEnqueueSVMMemFill(on, memory.data(), &pattern, sizeof pattern, 64, 0, nullptr, nullptr));
    EXPECT_CL(clFinish(on));
  }
  EXPECT_EQ(std::vector<unsigned char>(64, 0xA5), memory);
}

TEST_F(clEnqueueSVMMemFill, GivenNullThenInvalidCommandQueue) {
  const cl_int pattern = 1;
  EXPECT_EQ(CL_INVALID_COMMAND_QUEUE,
            ::clEnqueueSVMMemFill(nullptr, memory.data(), &pattern, sizeof pattern, 64, 0, nullptr, nullptr));
}

}  // namespace clique::test
