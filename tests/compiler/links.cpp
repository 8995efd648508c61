// Compiling and linking separately, as clCompileProgram and clLinkProgram do.
#include <CL/cl.h>

#include "fixture.hpp"

namespace clique::daemon::compiler {
namespace {

protocol::Bytes compiled(const std::string& source, const std::string& options = "") {
  Request request = build_request(source, options);
  request.kind = Request::Kind::Compile;
  const Result result = shared_compiler().run(request, kLimit);
  EXPECT_EQ(result.status, CL_SUCCESS) << result.log;
  return result.binary;
}

Result link(std::vector<protocol::Bytes> inputs, const std::string& options = "") {
  Request request;
  request.kind = Request::Kind::Link;
  request.architecture = "sm_90";
  request.options = options;
  request.inputs = std::move(inputs);
  return shared_compiler().run(request, kLimit);
}

const char* const kCaller = "int f(int); __kernel void k(__global int* x) { *x = f(*x); }";
const char* const kCalled = "int f(int a) { return a * 3; }";

TEST(Links, GivenObjectsWhenLinkedThenTheProgramHasTheKernels) {
  const Result result = link({compiled(kCaller), compiled(kCalled)});
  ASSERT_EQ(result.status, CL_SUCCESS) << result.log;
  const ProgramBinary binary = parse_program_binary(result.binary);
  EXPECT_EQ(binary.type, std::uint32_t{CL_PROGRAM_BINARY_TYPE_EXECUTABLE});
  EXPECT_EQ(binary.kernels.size(), 1U);
  EXPECT_EQ(binary.kernels[0].args.at(0).description.name, "x");
}

TEST(Links, GivenLibraryWhenLinkedThenItServesPrograms) {
  const Result library = link({compiled(kCalled)}, "-create-library -enable-link-options");
  ASSERT_EQ(library.status, CL_SUCCESS) << library.log;
  EXPECT_EQ(parse_program_binary(library.binary).type, std::uint32_t{CL_PROGRAM_BINARY_TYPE_LIBRARY});
  const Result result = link({compiled(kCaller), library.binary}, "-cl-denorms-are-zero");
  EXPECT_EQ(result.status, CL_SUCCESS) << result.log;
}

TEST(Links, GivenCompiledBinaryWhenBuiltThenItIsLinked) {
  Request request = build_request("");
  request.inputs = {compiled("__kernel void k(__global float* x) { *x = sin(*x); }")};
  const Result result = shared_compiler().run(request, kLimit);
  ASSERT_EQ(result.status, CL_SUCCESS) << result.log;
  EXPECT_EQ(parse_program_binary(result.binary).type, std::uint32_t{CL_PROGRAM_BINARY_TYPE_EXECUTABLE});
}

TEST(Links, GivenHeadersWhenCompiledThenTheyAreIncludedByName) {
  Request request =
      build_request("#include <inc/a.h>\n#include \"b.h\"\n__kernel void k(__global int* x) { *x = A + B; }");
  request.kind = Request::Kind::Compile;
  request.header_names = {"inc/a.h", "b.h"};
  request.headers = {"#include \"c.h\"\n#define A 1\n", "#define B 2\n"};
  request.header_names.emplace_back("inc/c.h");
  request.headers.emplace_back();
  const Result result = shared_compiler().run(request, kLimit);
  EXPECT_EQ(result.status, CL_SUCCESS) << result.log;
  EXPECT_TRUE(result.files.empty());
}

TEST(Links, GivenUndefinedFunctionWhenLinkedThenTheLogNamesIt) {
  const Result result = link({compiled(kCaller)});
  EXPECT_EQ(result.status, CL_LINK_PROGRAM_FAILURE);
  EXPECT_TRUE(contains(result.log, "undefined function 'f'"));
  EXPECT_TRUE(result.binary.empty());
}

TEST(Links, GivenFunctionTwiceWhenLinkedThenTheLogNamesIt) {
  const Result result = link({compiled(kCaller), compiled(kCalled), compiled("int f(int a) { return a; }")});
  EXPECT_EQ(result.status, CL_LINK_PROGRAM_FAILURE);
  EXPECT_TRUE(contains(result.log, "'f'"));
}

TEST(Links, GivenKernelTwiceWhenLinkedThenTheLogNamesIt) {
  const Result result =
      link({compiled("__kernel void twice() {}"), compiled("__kernel void twice(int a) {}")});
  EXPECT_EQ(result.status, CL_LINK_PROGRAM_FAILURE);
  EXPECT_TRUE(contains(result.log, "'twice'"));
}

TEST(Links, GivenStaticFunctionsOfOneNameWhenLinkedThenTheyStayApart) {
  const Result result = link(
      {compiled("static int f(int a) { return a + 1; } __kernel void a(__global int* x) { *x = f(*x); }"),
       compiled("static int f(int a) { return a + 2; } __kernel void b(__global int* x) { *x = f(*x); }")});
  ASSERT_EQ(result.status, CL_SUCCESS) << result.log;
  EXPECT_EQ(parse_program_binary(result.binary).kernels.size(), 2U);
}

TEST(Links, GivenOptionsOfObjectsWhenLinkedThenTheyCountWhereAllHaveThem) {
  const char* const source = "float g(float); __kernel void k(__global float* x) { x[0] = g(x[0]) / x[1]; }";
  const char* const other = "float g(float x) { return x + 1; }";
  const auto linked = [&](const std::string& first, const std::string& second) {
    return ptx_of(parse_program_binary(link({compiled(source, first), compiled(other, second)}).binary));
  };
  EXPECT_TRUE(contains(linked("-cl-denorms-are-zero", "-cl-denorms-are-zero"), "div.full.ftz.f32"));
  EXPECT_TRUE(contains(linked("-cl-denorms-are-zero", ""), "div.full.f32"));
  const std::string exact = "-cl-fp32-correctly-rounded-divide-sqrt";
  EXPECT_TRUE(contains(linked(exact, exact), "div.rn.f32"));
}

TEST(Links, GivenWrongInputsWhenLinkedThenItFails) {
  EXPECT_EQ(link({{1, 2, 3}}).status, CL_LINK_PROGRAM_FAILURE);
  EXPECT_EQ(link({build("__kernel void k() {}").binary}).status, CL_LINK_PROGRAM_FAILURE);
  EXPECT_EQ(link({compiled(kCaller), compiled(kCalled)}, "-no-such").status, CL_INVALID_LINKER_OPTIONS);
}

TEST(Links, GivenPrintfInAnObjectWhenLinkedThenTheFormatIsKept) {
  const Result result = link({compiled(R"(__kernel void k(int a) { printf("%d\n", a); })")});
  ASSERT_EQ(result.status, CL_SUCCESS) << result.log;
  EXPECT_EQ(parse_program_binary(result.binary).formats, std::vector<std::string>{"%d\n"});
}

}  // namespace
}  // namespace clique::daemon::compiler
