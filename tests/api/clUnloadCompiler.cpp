// clUnloadCompiler: OpenCL 3.0, deprecated entry points (OpenCL 1.1, section 5.6.4).
#include "helpers.hpp"

namespace clique::test::suite_clUnloadCompiler {

class clUnloadCompiler : public ApiTest {};

TEST_F(clUnloadCompiler, GivenUnloadedCompilerThenProgramsStillBuild) {
  EXPECT_CL(::clUnloadCompiler());
  const Program program = build("kernel void k() {}");
  EXPECT_NE(nullptr, kernel(program, "k").get());
}

}  // namespace clique::test::suite_clUnloadCompiler
