// clReleaseProgram: OpenCL 3.0, section 5.8.2.
#include "helpers.hpp"

namespace clique::test::suite_clReleaseProgram {

class clReleaseProgram : public ApiTest {};

TEST_F(clReleaseProgram, GivenKernelWhenProgramIsReleasedThenKernelStillRuns) {
  Program program = build("kernel void k(global int* out) { *out = 7; }");
  const Kernel k = kernel(program, "k");
  ASSERT_CL(::clReleaseProgram(program.release_ownership()));
  const Mem out = buffer<int>(1);
  set_args(k, out);
  ASSERT_CL(launch(queue, k, 1));
  EXPECT_EQ(7, read<int>(out, 1).front());
}

TEST_F(clReleaseProgram, GivenKernelWhenProgramIsReleasedThenKernelKnowsItsProgram) {
  Program program = build("kernel void k() {}");
  const Kernel k = kernel(program, "k");
  const cl_program handle = program.get();
  ASSERT_CL(::clReleaseProgram(program.release_ownership()));
  EXPECT_EQ(handle, info<cl_program>(clGetKernelInfo, k.get(), CL_KERNEL_PROGRAM));
  EXPECT_EQ(size_t{1}, info<size_t>(clGetProgramInfo, handle, CL_PROGRAM_NUM_KERNELS));
}

TEST_F(clReleaseProgram, GivenContextReleasedBeforeProgramThenProgramIsUsable) {
  const Program program = build("kernel void k() {}");
  const cl_context handle = context.get();
  queue.reset();
  context.reset();
  EXPECT_EQ(handle, info<cl_context>(clGetProgramInfo, program.get(), CL_PROGRAM_CONTEXT));
  EXPECT_EQ("k", info<std::string>(clGetProgramInfo, program.get(), CL_PROGRAM_KERNEL_NAMES));
}

TEST_F(clReleaseProgram, GivenNullThenInvalidProgram) {
  EXPECT_EQ(CL_INVALID_PROGRAM, ::clReleaseProgram(nullptr));
}

}  // namespace clique::test::suite_clReleaseProgram
