// clEnqueueSVMUnmap: OpenCL 3.0, section 5.6.2.
#include "svm.hpp"

namespace clique::test {

class clEnqueueSVMUnmap : public WithoutSvmTest {};

TEST_F(clEnqueueSVMUnmap, GivenDeviceWithoutSvmThenInvalidOperationAndNothingHappens) {
  for (const cl_device_id each : devices()) {
    const Queue on = make_queue(0, each);
    EXPECT_EQ(CL_INVALID_OPERATION, ::clEnqueueSVMUnmap(on, memory.data(), 0, nullptr, nullptr));
    EXPECT_CL(clFinish(on));
  }
  EXPECT_EQ(std::vector<unsigned char>(64, 0xA5), memory);
}

TEST_F(clEnqueueSVMUnmap, GivenNullThenInvalidCommandQueue) {
  EXPECT_EQ(CL_INVALID_COMMAND_QUEUE, ::clEnqueueSVMUnmap(nullptr, memory.data(), 0, nullptr, nullptr));
}

}  // namespace clique::test
