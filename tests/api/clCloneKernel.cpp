// clCloneKernel: OpenCL 3.0, section 5.9.1.
#include "helpers.hpp"

namespace clique::test::suite_clCloneKernel {

class clCloneKernel : public ApiTest {
 protected:
  static constexpr char source[] = "kernel void store(global int* out, int value) { *out = value; }";

  static Kernel clone(cl_kernel original) {
    cl_int err = CL_SUCCESS;
    Kernel copy(::clCloneKernel(original, &err));
    EXPECT_EQ(CL_SUCCESS, err);
    EXPECT_NE(nullptr, copy.get());
    return copy;
  }
};

TEST_F(clCloneKernel, GivenKernelWithArgumentsThenCloneRunsWithThem) {
  const Program program = build(source);
  const Kernel original = kernel(program, "store");
  const Mem out = buffer<int>(1);
  set_args(original, out, 5);
  const Kernel copy = clone(original);
  ASSERT_CL(launch(queue, copy, 1));
  EXPECT_EQ(5, read<int>(out, 1).front());
}

TEST_F(clCloneKernel, GivenArgumentsSetAfterCloningThenTheyAreIndependent) {
  const Program program = build(source);
  const Kernel original = kernel(program, "store");
  const Mem a = buffer<int>(1);
  const Mem b = buffer<int>(1);
  set_args(original, a, 1);
  const Kernel copy = clone(original);
  set_args(copy, b, 2);
  ASSERT_CL(launch(queue, original, 1));
  ASSERT_CL(launch(queue, copy, 1));
  EXPECT_EQ(1, read<int>(a, 1).front());
  EXPECT_EQ(2, read<int>(b, 1).front());
}

TEST_F(clCloneKernel, GivenOriginalIsReleasedThenCloneRuns) {
  const Program program = build(source);
  Kernel original = kernel(program, "store");
  const Mem out = buffer<int>(1);
  set_args(original, out, 8);
  const Kernel copy = clone(original);
  original.reset();
  ASSERT_CL(launch(queue, copy, 1));
  EXPECT_EQ(8, read<int>(out, 1).front());
}

TEST_F(clCloneKernel, GivenUnsetArgumentsThenCloneHasNoneEither) {
  const Program program = build(source);
  const Kernel original = kernel(program, "store");
  const Kernel copy = clone(original);
  const Mem out = buffer<int>(1);
  EXPECT_EQ(CL_INVALID_KERNEL_ARGS, launch(queue, copy, 1));
  set_args(copy, out, 3);
  ASSERT_CL(launch(queue, copy, 1));
  EXPECT_EQ(3, read<int>(out, 1).front());
  EXPECT_EQ(CL_INVALID_KERNEL_ARGS, launch(queue, original, 1));
}

TEST_F(clCloneKernel, GivenCloneThenItIsAKernelOfItsOwn) {
  const Program program = build(source);
  const Kernel original = kernel(program, "store");
  const Kernel copy = clone(original);
  EXPECT_NE(original.get(), copy.get());
  EXPECT_EQ(1U, info<cl_uint>(clGetKernelInfo, original.get(), CL_KERNEL_REFERENCE_COUNT));
  EXPECT_EQ(1U, info<cl_uint>(clGetKernelInfo, copy.get(), CL_KERNEL_REFERENCE_COUNT));
  EXPECT_EQ("store", info<std::string>(clGetKernelInfo, copy.get(), CL_KERNEL_FUNCTION_NAME));
  EXPECT_EQ(2U, info<cl_uint>(clGetKernelInfo, copy.get(), CL_KERNEL_NUM_ARGS));
  EXPECT_EQ(program.get(), info<cl_program>(clGetKernelInfo, copy.get(), CL_KERNEL_PROGRAM));
}

TEST_F(clCloneKernel, GivenNullThenInvalidKernel) {
  cl_int err = CL_SUCCESS;
  EXPECT_EQ(nullptr, ::clCloneKernel(nullptr, &err));
  EXPECT_EQ(CL_INVALID_KERNEL, err);
}

}  // namespace clique::test::suite_clCloneKernel
