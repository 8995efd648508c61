// clSetProgramSpecializationConstant: OpenCL 3.0, section 5.8.3.
#include "helpers.hpp"

namespace clique::test {

class clSetProgramSpecializationConstant : public ApiTest {};

TEST_F(clSetProgramSpecializationConstant, GivenProgramFromSourceThenSaysWhatIsMissing) {
  const char* source = "kernel void k() {}";
  const Program program(clCreateProgramWithSource(context, 1, &source, nullptr, nullptr));
  const int value = 1;
  // That no device takes intermediate language is said first: then there is no program that would do.
  const bool supported = !info<std::string>(clGetDeviceInfo, device, CL_DEVICE_IL_VERSION).empty();
  EXPECT_EQ(supported ? CL_INVALID_PROGRAM : CL_INVALID_OPERATION,
            ::clSetProgramSpecializationConstant(program, 0, sizeof value, &value));
}

TEST_F(clSetProgramSpecializationConstant, GivenNullProgramThenInvalidProgram) {
  const int value = 1;
  EXPECT_EQ(CL_INVALID_PROGRAM, ::clSetProgramSpecializationConstant(nullptr, 0, sizeof value, &value));
}

}  // namespace clique::test
