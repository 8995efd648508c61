// clSetProgramSpecializationConstant: OpenCL 3.0, section 5.8.3.
#include "helpers.hpp"
#include "spirv/modules.hpp"

namespace clique::test::suite_clSetProgramSpecializationConstant {

class clSetProgramSpecializationConstant : public ApiTest {
 protected:
  /// A program with the constants 7, an int, and 8, a boolean; null if no device supports SPIR-V.
  Program specializable() {
    const auto module = spirv_module("increment");
    if (module.empty() || info<std::string>(clGetDeviceInfo, device, CL_DEVICE_IL_VERSION).empty()) return {};
    cl_int err = CL_SUCCESS;
    Program program(clCreateProgramWithIL(context, module.data(), module.size(), &err));
    EXPECT_EQ(CL_SUCCESS, err);
    return program;
  }
};

TEST_F(clSetProgramSpecializationConstant, GivenProgramFromSourceThenSaysWhatIsMissing) {
  const char* source = "kernel void k() {}";
  const Program program(clCreateProgramWithSource(context, 1, &source, nullptr, nullptr));
  const int value = 1;
  // This error comes first if no device supports intermediate language, since no program could be valid then.
  const bool supported = !info<std::string>(clGetDeviceInfo, device, CL_DEVICE_IL_VERSION).empty();
  EXPECT_EQ(supported ? CL_INVALID_PROGRAM : CL_INVALID_OPERATION,
            ::clSetProgramSpecializationConstant(program, 0, sizeof value, &value));
}

TEST_F(clSetProgramSpecializationConstant, GivenWrongIdsAndSizesThenTheyAreRefused) {
  const Program program = specializable();
  if (program.get() == nullptr) GTEST_SKIP() << "the device does not take SPIR-V";
  const cl_ulong value = 1;
  EXPECT_EQ(CL_INVALID_SPEC_ID, ::clSetProgramSpecializationConstant(program, 9, sizeof(cl_int), &value));
  EXPECT_EQ(CL_INVALID_VALUE, ::clSetProgramSpecializationConstant(program, 7, sizeof value, &value));
  EXPECT_EQ(CL_INVALID_VALUE, ::clSetProgramSpecializationConstant(program, 7, sizeof(cl_int), nullptr));
  EXPECT_EQ(CL_SUCCESS, ::clSetProgramSpecializationConstant(program, 7, sizeof(cl_int), &value));
  EXPECT_EQ(CL_SUCCESS, clBuildProgram(program, 1, &device, "", nullptr, nullptr));
}

TEST_F(clSetProgramSpecializationConstant, GivenConstantsThenTheKernelHasThem) {
  const Program program = specializable();
  if (program.get() == nullptr) GTEST_SKIP() << "the device does not take SPIR-V";
  const auto result_of = [&](cl_int number) {
    EXPECT_CL(clBuildProgram(program, 1, &device, "", nullptr, nullptr));
    const Kernel increment = kernel(program, "increment");
    const Mem mem = buffer<cl_int>(1, &number);
    EXPECT_CL(clSetKernelArg(increment, 0, sizeof(cl_mem), mem.ptr()));
    const size_t one = 1;
    EXPECT_CL(clEnqueueNDRangeKernel(queue, increment, 1, nullptr, &one, nullptr, 0, nullptr, nullptr));
    return read<cl_int>(mem, 1)[0];
  };
  EXPECT_EQ(6, result_of(5));
  const cl_int amount = 100;
  const cl_uchar yes = 1;
  ASSERT_CL(::clSetProgramSpecializationConstant(program, 7, sizeof amount, &amount));
  EXPECT_EQ(105, result_of(5));
  ASSERT_CL(::clSetProgramSpecializationConstant(program, 8, sizeof yes, &yes));
  EXPECT_EQ(95, result_of(5));
}

TEST_F(clSetProgramSpecializationConstant, GivenNullProgramThenInvalidProgram) {
  const int value = 1;
  EXPECT_EQ(CL_INVALID_PROGRAM, ::clSetProgramSpecializationConstant(nullptr, 0, sizeof value, &value));
}

}  // namespace clique::test::suite_clSetProgramSpecializationConstant
