// clRetainProgram: OpenCL 3.0, section 5.8.2.
#include "checks.hpp"

namespace clique::test::suite_clRetainProgram {

class clRetainProgram : public ApiTest {};

TEST_F(clRetainProgram, GivenProgramWhenRetainedThenReferenceCountGrowsAndReleasesPairUp) {
  const Program program = build("kernel void k() {}");
  expect_counted_references(program.get(), ::clRetainProgram, ::clReleaseProgram, clGetProgramInfo,
                            CL_PROGRAM_REFERENCE_COUNT);
}

TEST_F(clRetainProgram, GivenNullThenInvalidProgram) {
  EXPECT_EQ(CL_INVALID_PROGRAM, ::clRetainProgram(nullptr));
}

}  // namespace clique::test::suite_clRetainProgram
