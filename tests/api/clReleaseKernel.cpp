// clReleaseKernel: OpenCL 3.0, section 5.9.1.
#include "helpers.hpp"

namespace clique::test::suite_clReleaseKernel {

class clReleaseKernel : public ApiTest {};

TEST_F(clReleaseKernel, GivenEnqueuedCommandWhenKernelIsReleasedThenItStillRuns) {
  Program program = build("kernel void k(global int* out, int value) { *out = value; }");
  Kernel k = kernel(program, "k");
  const Mem out = buffer<int>(1);
  set_args(k, out, 77);
  Gate gate(context);
  ASSERT_CL(launch(queue, k, 1, {gate}));
  ASSERT_CL(::clReleaseKernel(k.release_ownership()));
  ASSERT_CL(clReleaseProgram(program.release_ownership()));
  gate.open();
  EXPECT_EQ(77, read<int>(out, 1).front());
}

TEST_F(clReleaseKernel, GivenMemObjectIsReleasedAfterEnqueueThenCommandStillUsesIt) {
  const Program program = build("kernel void add(global int* to, global const int* from) { *to += *from; }");
  const Kernel add = kernel(program, "add");
  const int values[] = {40, 2};
  const Mem to = buffer<int>(1, &values[0]);
  Mem from = buffer<int>(1, &values[1]);
  set_args(add, to, from);
  Gate gate(context);
  ASSERT_CL(launch(queue, add, 1, {gate}));
  from.reset();
  gate.open();
  EXPECT_EQ(42, read<int>(to, 1).front());
}

TEST_F(clReleaseKernel, GivenNullThenInvalidKernel) {
  EXPECT_EQ(CL_INVALID_KERNEL, ::clReleaseKernel(nullptr));
}

}  // namespace clique::test::suite_clReleaseKernel
