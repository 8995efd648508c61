// clEnqueueSVMFree: OpenCL 3.0, section 5.6.2.
#include "svm.hpp"

namespace clique::test {

class clEnqueueSVMFree : public WithoutSvmTest {};

TEST_F(clEnqueueSVMFree, GivenDeviceWithoutSvmThenInvalidOperationAndNothingHappens) {
  void* pointers[] = {memory.data()};
  for (const cl_device_id each : devices()) {
    const Queue on = make_queue(0, each);
    EXPECT_EQ(CL_INVALID_OPERATION,
              ::clEnqueueSVMFree(on, 1, pointers, nullptr, nullptr, 0, nullptr, nullptr));
    EXPECT_CL(clFinish(on));
  }
  EXPECT_EQ(std::vector<unsigned char>(64, 0xA5), memory);
}

TEST_F(clEnqueueSVMFree, GivenNullThenInvalidCommandQueue) {
  void* pointers[] = {memory.data()};
  EXPECT_EQ(CL_INVALID_COMMAND_QUEUE,
            ::clEnqueueSVMFree(nullptr, 1, pointers, nullptr, nullptr, 0, nullptr, nullptr));
}

}  // namespace clique::test
