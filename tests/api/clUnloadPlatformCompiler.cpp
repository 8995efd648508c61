// clUnloadPlatformCompiler: OpenCL 3.0, section 5.8.7.
#include "helpers.hpp"

namespace clique::test::suite_clUnloadPlatformCompiler {

class clUnloadPlatformCompiler : public ApiTest {};

TEST_F(clUnloadPlatformCompiler, GivenPlatformWhenUnloadedThenProgramsStillBuildAndRun) {
  const char* source = "kernel void k(global int* out) { *out = 3; }";
  const Program before = build(source);
  EXPECT_CL(::clUnloadPlatformCompiler(platform()));
  const Program after = build(source);
  for (cl_program program : {before.get(), after.get()}) {
    const Kernel k = kernel(program, "k");
    const Mem out = buffer<int>(1);
    set_args(k, out);
    ASSERT_CL(launch(queue, k, 1));
    EXPECT_EQ(3, read<int>(out, 1).front());
  }
}

}  // namespace clique::test::suite_clUnloadPlatformCompiler
