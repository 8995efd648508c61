// clEnqueueSVMMap: OpenCL 3.0, section 5.6.2.
#include "svm.hpp"

namespace clique::test {

class clEnqueueSVMMap : public WithoutSvmTest {};

TEST_F(clEnqueueSVMMap, GivenDeviceWithoutSvmThenInvalidOperationAndNothingHappens) {
  for (const cl_device_id each : devices()) {
    const Queue on = make_queue(0, each);
    EXPECT_EQ(CL_INVALID_OPERATION,
              ::clEnqueueSVMMap(on, CL_TRUE, CL_MAP_READ, memory.data(), 64, 0, nullptr, nullptr));
    EXPECT_CL(clFinish(on));
  }
  EXPECT_EQ(std::vector<unsigned char>(64, 0xA5), memory);
}

TEST_F(clEnqueueSVMMap, GivenNullThenInvalidCommandQueue) {
  EXPECT_EQ(CL_INVALID_COMMAND_QUEUE,
            ::clEnqueueSVMMap(nullptr, CL_TRUE, CL_MAP_READ, memory.data(), 64, 0, nullptr, nullptr));
}

}  // namespace clique::test
