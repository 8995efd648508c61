// The build logs of programs with errors.
#include <CL/cl.h>

#include "fixture.hpp"

namespace clique::daemon::compiler {
namespace {

void expect_failure(const std::string& source, const std::string& message, const std::string& options = "") {
  const Result result = build(source, options);
  EXPECT_EQ(result.status, CL_BUILD_PROGRAM_FAILURE) << source;
  EXPECT_TRUE(result.binary.empty());
  EXPECT_TRUE(contains(result.log, message));
}

TEST(Logs, GivenSyntaxErrorWhenBuiltThenTheLineIsNamed) {
  expect_failure("__kernel void k() {\n  int a = ;\n}\n", "program.cl:2:11: error: expected expression");
}

TEST(Logs, GivenUndefinedFunctionWhenBuiltThenItIsNamed) {
  expect_failure("float helper(float); __kernel void k(__global float* x) { *x = helper(*x); }",
                 "undefined function 'helper'");
  expect_failure("__kernel void k(__global float* x) { *x = no_such_builtin(*x); }", "no_such_builtin");
}

TEST(Logs, GivenUndefinedFunctionThatNoKernelCallsWhenBuiltThenItDoesNotMatter) {
  EXPECT_EQ(
      build("float helper(float); float unused(float x) { return helper(x); } __kernel void k() {}").status,
      CL_SUCCESS);
}

TEST(Logs, GivenRecursionWhenBuiltThenItIsAnError) {
  expect_failure(
      "int f(int a) { return a ? f(a - 1) + 1 : 0; } __kernel void k(__global int* x) { *x = f(*x); }",
      "recursion is not allowed in OpenCL C: 'f'");
  expect_failure(R"(
    int b(int);
    int a(int x) { return x ? b(x - 1) : 0; }
    int b(int x) { return a(x) + 1; }
    __kernel void k(__global int* x) { *x = a(*x); })",
                 "recursion");
  expect_failure("__kernel void k(__global int* x) { if (*x) { --*x; k(x); } }", "recursion");
}

TEST(Logs, GivenWarningsWhenBuiltThenOptionsDecide) {
  const std::string source = "__kernel void k(__global int* x) { int y; *x = y; }";
  EXPECT_TRUE(contains(build(source, "-Wall").log, "warning:"));
  EXPECT_FALSE(contains(build(source, "-w").log, "warning:"));
  expect_failure("#warning careful\n__kernel void k() {}", "careful", "-Werror");
}

TEST(Logs, GivenFormatThatIsNoLiteralWhenBuiltThenItIsAnError) {
  expect_failure("__kernel void k(__constant char* f) { printf(f); }", "string literal");
}

TEST(Logs, GivenUnknownOptionWhenBuiltThenItIsNamed) {
  const Result result = build("__kernel void k() {}", "-cl-make-it-fast");
  EXPECT_EQ(result.status, CL_INVALID_BUILD_OPTIONS);
  EXPECT_TRUE(contains(result.log, "'-cl-make-it-fast'"));
}

TEST(Logs, GivenKernelsThatCannotBeLaunchedWhenBuiltThenTheyAreNamed) {
  expect_failure(
      "typedef struct { int a[2000]; } big; __kernel void k(big b, __global int* x) { *x = b.a[*x]; }",
      "kernel 'k' has 8008 bytes of arguments");
  expect_failure(
      "__attribute__((intel_reqd_sub_group_size(16))) __kernel void k(__global int* x) { *x = 1; }",
      "kernel 'k' requires sub-groups of 16");
}

TEST(Logs, GivenRightProgramWhenBuiltThenTheLogIsEmpty) {
  EXPECT_EQ(build("__kernel void k(__global float* x) { *x = exp(*x); }").log, "");
}

TEST(Logs, GivenTooMuchLocalMemoryWhenBuiltThenPtxIsStillMade) {
  // The size of a device's local memory is checked when the kernel is launched there.
  EXPECT_EQ(build("__kernel void k(__global int* x) { __local int a[100000]; a[*x] = 1; "
                  "barrier(CLK_LOCAL_MEM_FENCE); *x = a[*x + 1]; }")
                .status,
            CL_SUCCESS);
}

TEST(Logs, GivenGarbageWhenBuiltThenItFailsAndTheNextProgramBuilds) {
  EXPECT_EQ(build(std::string(100'000, '(')).status, CL_BUILD_PROGRAM_FAILURE);
  EXPECT_EQ(build(std::string("\0\1\2\377", 4)).status, CL_BUILD_PROGRAM_FAILURE);
  EXPECT_EQ(build("#include \"/no/such/file\"\n").status, CL_BUILD_PROGRAM_FAILURE);
  EXPECT_EQ(build("__kernel void k() {}").status, CL_SUCCESS);
}

}  // namespace
}  // namespace clique::daemon::compiler
