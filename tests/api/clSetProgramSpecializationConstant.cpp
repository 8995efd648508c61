// clSetProgramSpecializationConstant: OpenCL 3.0, section 5.8.3.
#include "helpers.hpp"

namespace clique::test {

class clSetProgramSpecializationConstant : public ApiTest {};

TEST_F(clSetProgramSpecializationConstant, GivenProgramFromSourceThenRefused) {
  const char* source = "kernel void k() {}";
  const Program program(clCreateProgramWithSource(context, 1, &source, nullptr, nullptr));
  const int value = 1;
  // Two clauses fit where no device takes an intermediate language.
  const cl_int err = ::clSetProgramSpecializationConstant(program, 0, sizeof value, &value);
  EXPECT_TRUE(err == CL_INVALID_PROGRAM || err == CL_INVALID_OPERATION) << err;
}

TEST_F(clSetProgramSpecializationConstant, GivenNullProgramThenInvalidProgram) {
  const int value = 1;
  EXPECT_EQ(CL_INVALID_PROGRAM, ::clSetProgramSpecializationConstant(nullptr, 0, sizeof value, &value));
}

}  // namespace clique::test
