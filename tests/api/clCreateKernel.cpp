// clCreateKernel: OpenCL 3.0, section 5.9.1.
#include "helpers.hpp"

namespace clique::test::suite_clCreateKernel {

class clCreateKernel : public ApiTest {
 protected:
  static constexpr char source[] = R"(
int helper(int x) { return x + 1; }
kernel void store(global int* out, int value) { *out = helper(value); }
)";
  void expect_error(cl_int expected, cl_program program, const char* name) {
    cl_int err = CL_SUCCESS;
    EXPECT_EQ(nullptr, ::clCreateKernel(program, name, &err));
    EXPECT_EQ(expected, err);
  }
};

TEST_F(clCreateKernel, GivenBuiltProgramThenKernelKnowsNameProgramAndContext) {
  const Program program = build(source);
  cl_int err = CL_OUT_OF_HOST_MEMORY;
  const Kernel store(::clCreateKernel(program, "store", &err));
  EXPECT_EQ(CL_SUCCESS, err);
  ASSERT_NE(nullptr, store.get());
  EXPECT_EQ("store", info<std::string>(clGetKernelInfo, store.get(), CL_KERNEL_FUNCTION_NAME));
  EXPECT_EQ(2U, info<cl_uint>(clGetKernelInfo, store.get(), CL_KERNEL_NUM_ARGS));
  EXPECT_EQ(1U, info<cl_uint>(clGetKernelInfo, store.get(), CL_KERNEL_REFERENCE_COUNT));
  EXPECT_EQ(program.get(), info<cl_program>(clGetKernelInfo, store.get(), CL_KERNEL_PROGRAM));
  EXPECT_EQ(context.get(), info<cl_context>(clGetKernelInfo, store.get(), CL_KERNEL_CONTEXT));
}

TEST_F(clCreateKernel, GivenTwoKernelsOfOneFunctionThenTheirArgumentsAreIndependent) {
  const Program program = build(source);
  const Kernel first(::clCreateKernel(program, "store", nullptr));
  const Kernel second(::clCreateKernel(program, "store", nullptr));
  ASSERT_NE(first.get(), second.get());
  const Mem a = buffer<int>(1);
  const Mem b = buffer<int>(1);
  set_args(first, a, 10);
  set_args(second, b, 20);
  ASSERT_CL(launch(queue, first, 1));
  ASSERT_CL(launch(queue, second, 1));
  EXPECT_EQ(11, read<int>(a, 1).front());
  EXPECT_EQ(21, read<int>(b, 1).front());
}

TEST_F(clCreateKernel, GivenUnknownNameThenInvalidKernelName) {
  const Program program = build(source);
  expect_error(CL_INVALID_KERNEL_NAME, program, "no_such_kernel");
  expect_error(CL_INVALID_KERNEL_NAME, program, "");
  expect_error(CL_INVALID_KERNEL_NAME, program, "helper");
  expect_error(CL_INVALID_KERNEL_NAME, program, "stor");
}

TEST_F(clCreateKernel, GivenNoNameThenInvalidValue) {
  const Program program = build(source);
  expect_error(CL_INVALID_VALUE, program, nullptr);
}

TEST_F(clCreateKernel, GivenProgramWithoutExecutableThenInvalidProgramExecutable) {
  const char* text = source;
  const Program unbuilt(clCreateProgramWithSource(context, 1, &text, nullptr, nullptr));
  expect_error(CL_INVALID_PROGRAM_EXECUTABLE, unbuilt, "store");
  const char* broken = "kernel void store() { missing_name = 1; }";
  const Program failed(clCreateProgramWithSource(context, 1, &broken, nullptr, nullptr));
  EXPECT_EQ(CL_BUILD_PROGRAM_FAILURE, clBuildProgram(failed, 0, nullptr, "", nullptr, nullptr));
  expect_error(CL_INVALID_PROGRAM_EXECUTABLE, failed, "store");
}

TEST_F(clCreateKernel, GivenNullProgramThenInvalidProgram) {
  expect_error(CL_INVALID_PROGRAM, nullptr, "store");
}

}  // namespace clique::test::suite_clCreateKernel
