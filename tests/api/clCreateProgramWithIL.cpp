// clCreateProgramWithIL: OpenCL 3.0, section 5.8.1.
#include "helpers.hpp"
#include "spirv/modules.hpp"

namespace clique::test::suite_clCreateProgramWithIL {

class clCreateProgramWithIL : public ApiTest {
 protected:
  static bool supported() {
    return std::any_of(devices().begin(), devices().end(), [](cl_device_id one) {
      return !info<std::string>(clGetDeviceInfo, one, CL_DEVICE_IL_VERSION).empty();
    });
  }
  void expect_error(cl_int expected, cl_context in, const void* il, size_t length) {
    cl_int err = CL_SUCCESS;
    EXPECT_EQ(nullptr, ::clCreateProgramWithIL(in, il, length, &err));
    EXPECT_EQ(expected, err);
  }
};

TEST_F(clCreateProgramWithIL, GivenNoDeviceWithIlThenInvalidOperation) {
  if (supported()) GTEST_SKIP() << "a device accepts an intermediate language";
  const cl_uint magic[] = {0x07230203, 0x00010000, 0, 1, 0};
  expect_error(CL_INVALID_OPERATION, context, magic, sizeof magic);
}

TEST_F(clCreateProgramWithIL, GivenNoIlThenInvalidValue) {
  if (!supported()) GTEST_SKIP() << "no device accepts an intermediate language";
  const cl_uint magic[] = {0x07230203, 0x00010000, 0, 1, 0};
  expect_error(CL_INVALID_VALUE, context, nullptr, sizeof magic);
  expect_error(CL_INVALID_VALUE, context, magic, 0);
}

TEST_F(clCreateProgramWithIL, GivenGarbageThenInvalidValue) {
  if (!supported()) GTEST_SKIP() << "no device accepts an intermediate language";
  const std::vector<unsigned char> garbage(64, 0xA5);
  expect_error(CL_INVALID_VALUE, context, garbage.data(), garbage.size());
}

TEST_F(clCreateProgramWithIL, GivenModuleThenItIsTheProgramsIl) {
  const auto module = spirv_module("increment");
  if (!supported() || module.empty()) GTEST_SKIP() << "no device accepts an intermediate language";
  cl_int err = CL_SUCCESS;
  const Program program(::clCreateProgramWithIL(context, module.data(), module.size(), &err));
  ASSERT_EQ(CL_SUCCESS, err);
  EXPECT_EQ(module, info<std::vector<unsigned char>>(clGetProgramInfo, program.get(), CL_PROGRAM_IL));
  EXPECT_EQ("", info<std::string>(clGetProgramInfo, program.get(), CL_PROGRAM_SOURCE));
  ASSERT_CL(clBuildProgram(program, 0, nullptr, "", nullptr, nullptr));
  EXPECT_EQ("increment", info<std::string>(clGetProgramInfo, program.get(), CL_PROGRAM_KERNEL_NAMES));
  EXPECT_EQ(module, info<std::vector<unsigned char>>(clGetProgramInfo, program.get(), CL_PROGRAM_IL));
}

TEST_F(clCreateProgramWithIL, GivenModuleThenItsKernelRuns) {
  const auto module = spirv_module("increment");
  if (!supported() || module.empty()) GTEST_SKIP() << "no device accepts an intermediate language";
  cl_int err = CL_SUCCESS;
  const Program program(::clCreateProgramWithIL(context, module.data(), module.size(), &err));
  ASSERT_EQ(CL_SUCCESS, err);
  ASSERT_CL(clBuildProgram(program, 0, nullptr, "", nullptr, nullptr));
  const Kernel increment = kernel(program, "increment");
  EXPECT_EQ(1U, info<cl_uint>(clGetKernelInfo, increment.get(), CL_KERNEL_NUM_ARGS));
  const std::vector<cl_int> numbers{5, -7, 0};
  const Mem mem = buffer<cl_int>(numbers.size(), numbers.data());
  ASSERT_CL(clSetKernelArg(increment, 0, sizeof(cl_mem), mem.ptr()));
  const size_t size = numbers.size();
  ASSERT_CL(clEnqueueNDRangeKernel(queue, increment, 1, nullptr, &size, nullptr, 0, nullptr, nullptr));
  EXPECT_EQ((std::vector<cl_int>{6, -6, 1}), read<cl_int>(mem, size));
}

TEST_F(clCreateProgramWithIL, GivenNullContextThenInvalidContext) {
  const cl_uint magic[] = {0x07230203, 0x00010000, 0, 1, 0};
  expect_error(CL_INVALID_CONTEXT, nullptr, magic, sizeof magic);
}

}  // namespace clique::test::suite_clCreateProgramWithIL
