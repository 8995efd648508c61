// clSVMFree: OpenCL 3.0, section 5.6.1.
#include "svm.hpp"

namespace clique::test {

class clSVMFree : public WithoutSvmTest {};

TEST_F(clSVMFree, GivenNoDeviceWithSvmThenNothingHappens) {
  ::clSVMFree(context, nullptr);
  ::clSVMFree(context, memory.data());
  EXPECT_EQ(std::vector<unsigned char>(64, 0xA5), memory);
  EXPECT_CL(clFinish(queue));
}

}  // namespace clique::test
