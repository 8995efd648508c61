// clRetainKernel: OpenCL 3.0, section 5.9.1.
#include "checks.hpp"

namespace clique::test::suite_clRetainKernel {

class clRetainKernel : public ApiTest {};

TEST_F(clRetainKernel, GivenKernelWhenRetainedThenReferenceCountGrowsAndReleasesPairUp) {
  const Program program = build("kernel void k() {}");
  const Kernel k = kernel(program, "k");
  expect_counted_references(k.get(), ::clRetainKernel, ::clReleaseKernel, clGetKernelInfo,
                            CL_KERNEL_REFERENCE_COUNT);
  EXPECT_CL(launch(queue, k, 1));
  EXPECT_CL(clFinish(queue));
}

TEST_F(clRetainKernel, GivenNullThenInvalidKernel) {
  EXPECT_EQ(CL_INVALID_KERNEL, ::clRetainKernel(nullptr));
}

}  // namespace clique::test::suite_clRetainKernel
