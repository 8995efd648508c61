// clRetainProgram: OpenCL 3.0, section 5.8.2.
#include "helpers.hpp"

namespace clique::test {

class clRetainProgram : public ApiTest {};

TEST_F(clRetainProgram, GivenProgramWhenRetainedThenReferenceCountGrowsAndReleasesPairUp) {
  const Program program = build("kernel void k() {}");
  EXPECT_CL(::clRetainProgram(program));
  EXPECT_CL(::clRetainProgram(program));
  EXPECT_EQ(3U, info<cl_uint>(clGetProgramInfo, program.get(), CL_PROGRAM_REFERENCE_COUNT));
  EXPECT_CL(clReleaseProgram(program));
  EXPECT_CL(clReleaseProgram(program));
  EXPECT_EQ(1U, info<cl_uint>(clGetProgramInfo, program.get(), CL_PROGRAM_REFERENCE_COUNT));
}

TEST_F(clRetainProgram, GivenNullThenInvalidProgram) {
  EXPECT_EQ(CL_INVALID_PROGRAM, ::clRetainProgram(nullptr));
}

}  // namespace clique::test
