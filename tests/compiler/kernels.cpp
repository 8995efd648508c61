// What clGetKernelInfo and clGetKernelArgInfo return.
#include <CL/cl.h>

#include "fixture.hpp"

namespace clique::daemon::compiler {
namespace {

TEST(Kernels, GivenArgumentsWhenBuiltThenTheyAreDescribed) {
  const ProgramBinary binary = built(R"(
    typedef struct { int a; double b; } pair_t;
    __kernel void k(__global const float* restrict in, __global uint4* out, __constant int* table,
                    __local short* scratch, int n, const float3 v, pair_t pair, unsigned long u,
                    __global volatile int* flag, read_only image2d_t source, write_only image2d_t target,
                    sampler_t sampler) {
      out[0] = (uint4)(in[0] + n + v.x + pair.a + u + *flag + table[0]);
      scratch[0] = 1;
      write_imagef(target, (int2)(0), read_imagef(source, sampler, (float2)(0.0f)));
    })");
  const Kernel& kernel = kernel_named(binary, "k");
  ASSERT_EQ(kernel.args.size(), 12U);
  const auto expect = [&](std::size_t index, ArgKind kind, const char* name, const char* type,
                          std::uint32_t address, std::uint32_t access, std::uint64_t qualifier,
                          std::uint64_t size) {
    const Arg& arg = kernel.args[index];
    EXPECT_EQ(arg.kind, kind) << name;
    EXPECT_EQ(arg.description.name, name);
    EXPECT_EQ(arg.description.type, type);
    EXPECT_EQ(arg.description.address, address) << name;
    EXPECT_EQ(arg.description.access, access) << name;
    EXPECT_EQ(arg.description.qualifier, qualifier) << name;
    EXPECT_EQ(arg.description.size, size) << name;
  };
  constexpr auto kNone = CL_KERNEL_ARG_ACCESS_NONE;
  constexpr auto kGlobal = CL_KERNEL_ARG_ADDRESS_GLOBAL;
  constexpr auto kPrivate = CL_KERNEL_ARG_ADDRESS_PRIVATE;
  constexpr auto kConst = CL_KERNEL_ARG_TYPE_CONST;
  expect(0, ArgKind::Global, "in", "float*", kGlobal, kNone, kConst | CL_KERNEL_ARG_TYPE_RESTRICT, 0);
  expect(1, ArgKind::Global, "out", "uint4*", kGlobal, kNone, 0, 0);
  expect(2, ArgKind::Constant, "table", "int*", CL_KERNEL_ARG_ADDRESS_CONSTANT, kNone, kConst, 0);
  expect(3, ArgKind::Local, "scratch", "short*", CL_KERNEL_ARG_ADDRESS_LOCAL, kNone, 0, 0);
  expect(4, ArgKind::Value, "n", "int", kPrivate, kNone, 0, 4);
  expect(5, ArgKind::Value, "v", "float3", kPrivate, kNone, 0, 16);
  expect(6, ArgKind::Value, "pair", "pair_t", kPrivate, kNone, 0, 16);
  expect(7, ArgKind::Value, "u", "ulong", kPrivate, kNone, 0, 8);
  expect(8, ArgKind::Global, "flag", "int*", kGlobal, kNone, CL_KERNEL_ARG_TYPE_VOLATILE, 0);
  expect(9, ArgKind::Image, "source", "image2d_t", kGlobal, CL_KERNEL_ARG_ACCESS_READ_ONLY, 0, 0);
  expect(10, ArgKind::Image, "target", "image2d_t", kGlobal, CL_KERNEL_ARG_ACCESS_WRITE_ONLY, 0, 0);
  expect(11, ArgKind::Sampler, "sampler", "sampler_t", kPrivate, kNone, 0, 0);
}

TEST(Kernels, GivenAttributesWhenBuiltThenTheyAreSpelledOut) {
  const ProgramBinary binary = built(R"(
    __kernel __attribute__((reqd_work_group_size(8, 4, 2))) void a(__global int* x) { *x = 1; }
    __kernel __attribute__((vec_type_hint(float4))) __attribute__((work_group_size_hint(64, 1, 1)))
    void b(__global int* x) { *x = 1; }
    __kernel __attribute__((vec_type_hint(uint))) void c(__global int* x) { *x = 1; }
    __kernel void d(__global int* x) { *x = 1; }
    #define SIZE 4
    __attribute__((reqd_work_group_size(SIZE * 2, 1, 1), vec_type_hint(int))) __kernel void e(__global int* x) {
      *x = 1;
    })");
  EXPECT_EQ(kernel_named(binary, "a").attributes, "reqd_work_group_size(8,4,2)");
  EXPECT_EQ(kernel_named(binary, "a").required_group, (std::array{8U, 4U, 2U}));
  EXPECT_EQ(kernel_named(binary, "b").attributes, "vec_type_hint(float4) work_group_size_hint(64,1,1)");
  EXPECT_EQ(kernel_named(binary, "c").attributes, "vec_type_hint(uint)");
  EXPECT_EQ(kernel_named(binary, "d").attributes, "");
  EXPECT_EQ(kernel_named(binary, "d").required_group, (std::array{0U, 0U, 0U}));
  EXPECT_TRUE(contains(ptx_of(binary), ".reqntid 8, 4, 2"));
  EXPECT_EQ(kernel_named(binary, "e").attributes, "reqd_work_group_size(8,1,1) vec_type_hint(int)");
}

TEST(Kernels, GivenGroupsThatMayBeSmallerThenTheRequiredSizeIsTheLargest) {
  const char* const source =
      "__kernel __attribute__((reqd_work_group_size(8, 4, 2))) void a(__global int* x) { *x = "
      "get_local_size(0); }";
  for (const bool uniform : {false, true}) {
    const std::string ptx =
        ptx_of(built(source, uniform ? "-cl-std=CL3.0 -cl-uniform-work-group-size" : "-cl-std=CL3.0"));
    EXPECT_EQ(contains(ptx, ".reqntid 8, 4, 2"), uniform) << ptx;
    EXPECT_EQ(contains(ptx, ".maxntid 8, 4, 2"), !uniform) << ptx;
    EXPECT_EQ(contains(ptx, "%ntid.x"), !uniform) << ptx;
  }
}

TEST(Kernels, GivenSeveralKernelsWhenBuiltThenTheirOrderIsTheSources) {
  const ProgramBinary binary = built("__kernel void z(){} __kernel void a(){} __kernel void m(){}");
  ASSERT_EQ(binary.kernels.size(), 3U);
  EXPECT_EQ(binary.kernels[0].name, "z");
  EXPECT_EQ(binary.kernels[1].name, "a");
  EXPECT_EQ(binary.kernels[2].name, "m");
}

TEST(Kernels, GivenKernelThatAnotherCallsWhenBuiltThenBothAreKernels) {
  const ProgramBinary binary = built(R"(
    __kernel void inner(__global int* x, __local int* y) { y[0] = get_global_id(0); x[0] = y[0]; }
    __kernel void outer(__global int* x, __local int* y) { inner(x + 1, y); })");
  EXPECT_EQ(binary.kernels.size(), 2U);
  EXPECT_TRUE(contains(ptx_of(binary), ".entry inner("));
  EXPECT_TRUE(contains(ptx_of(binary), ".entry outer("));
  EXPECT_EQ(kernel_named(binary, "outer").hidden.size(), 1U);
}

TEST(Kernels, GivenLanguageVersionWhenBuiltThenItDecidesWhetherGroupsAreUniform) {
  const std::string source = "__kernel void k(__global int* x) { *x = get_local_size(0); }";
  EXPECT_TRUE(built(source).kernels[0].uniform_groups);
  EXPECT_TRUE(built(source, "-cl-std=CL1.1").kernels[0].uniform_groups);
  EXPECT_FALSE(built(source, "-cl-std=CL2.0").kernels[0].uniform_groups);
  EXPECT_FALSE(built(source, "-cl-std=CL3.0").kernels[0].uniform_groups);
  EXPECT_TRUE(built(source, "-cl-std=CL3.0 -cl-uniform-work-group-size").kernels[0].uniform_groups);
}

TEST(Kernels, GivenLaunchesInPartsWhenBuiltThenKernelsTakeIdsAndSizesFromTheWholeRange) {
  Request request = build_request(
      "__kernel void k(__global int* x) { x[get_group_id(0)] = get_global_size(0) + get_num_groups(0); }");
  const auto hidden = [&] {
    const Result result = shared_compiler().run(request, kLimit);
    std::set<Hidden> asked;
    const ProgramBinary binary = parse_program_binary(result.binary);
    for (const HiddenArg& arg : binary.kernels.at(0).hidden) asked.insert(static_cast<Hidden>(arg.what));
    EXPECT_EQ(binary.kernels[0].in_parts, request.in_parts);
    return asked;
  };
  EXPECT_EQ(hidden(), std::set<Hidden>{});
  request.in_parts = true;
  EXPECT_EQ(hidden(), (std::set<Hidden>{Hidden::GroupOffset, Hidden::GlobalSize, Hidden::NumGroups}));
}

TEST(Kernels, GivenProgramVariablesWhenBuiltThenTheirSizeIsKnown) {
  const ProgramBinary binary = built(R"(
    global int counters[10];
    constant int table[3] = {1, 2, 3};
    __kernel void k(__global int* x) { *x = counters[*x]++ + table[*x & 1]; })",
                                     "-cl-std=CL3.0");
  EXPECT_EQ(binary.global_variables, 40U);
}

TEST(Kernels, GivenLocalVariablesWhenBuiltThenTheyHaveAPlace) {
  const auto source = [](int elements) {
    return "__kernel void k(__global int* x) { __local int a[" + std::to_string(elements) +
           "], b[64]; int i = get_local_id(0); a[i] = x[i]; b[i & 63] = x[i]; "
           "barrier(CLK_LOCAL_MEM_FENCE); x[i] = a[" +
           std::to_string(elements - 1) + " - i] + b[63]; }";
  };
  const ProgramBinary little = built(source(1024));
  EXPECT_EQ(little.kernels[0].static_local_size, 4096U + 256U);
  EXPECT_EQ(little.kernels[0].local_size, 0U);
  const ProgramBinary much = built(source(20'000));
  EXPECT_EQ(much.kernels[0].static_local_size, 256U);
  EXPECT_EQ(much.kernels[0].local_size, 80'000U);
  EXPECT_TRUE(contains(ptx_of(much), ".extern .shared"));
}

TEST(Kernels, GivenConstantTableWhenBuiltThenItIsInTheConstantBankWhereItFits) {
  const auto source = [](int elements) {
    return "__constant int table[" + std::to_string(elements) +
           "] = {1, 2, 3}; __kernel void k(__global int* x) { *x = table[*x]; }";
  };
  EXPECT_TRUE(contains(ptx_of(built(source(100))), "ld.const.u32"));
  EXPECT_FALSE(contains(ptx_of(built(source(100'000))), "ld.const"));
  EXPECT_FALSE(contains(ptx_of(built("__kernel void k(__constant int* t, __global int* x) { *x = t[*x]; }")),
                        "ld.const"));
}

TEST(Kernels, GivenConstantTableThatWorkItemsReadAtPlacesOfTheirOwnWhenBuiltThenItIsInGlobalMemory) {
  const std::string ptx =
      ptx_of(built("__constant int table[100] = {1, 2, 3}; __kernel void k(__global int* x) { int i = "
                   "get_local_id(0); x[i] = table[x[i]]; }"));
  EXPECT_TRUE(contains(ptx, "ld.global.nc.u32"));
  EXPECT_FALSE(contains(ptx, "ld.const"));
}

TEST(Kernels, GivenVolatilePrivateVariableWhenBuiltThenItIsOpaqueAndInARegister) {
  const std::string ptx =
      ptx_of(built("__kernel void k(__global float* x) { volatile float y = x[0]; x[1] = y - y; }"));
  EXPECT_FALSE(contains(ptx, "volatile"));
  EXPECT_TRUE(contains(ptx, "sub.rn.f32"));
  EXPECT_TRUE(
      contains(ptx_of(built("__kernel void k(__global volatile int* x) { x[1] = x[0]; }")), "ld.volatile"));
}

TEST(Kernels, GivenIndicesThatDifferByConstantsWhenBuiltThenTheyShareAnAddress) {
  const std::string ptx = ptx_of(built(R"(
    __kernel __attribute__((reqd_work_group_size(16, 16, 1))) void k(__global float* x, int n) {
      __local float tile[64 * 16];
      int row = get_local_id(1), column = get_local_id(0);
      for (int i = 0; i < 4; ++i) tile[(row * 4 + i) * 16 + column] = x[(row * 4 + i) * n + column];
      barrier(CLK_LOCAL_MEM_FENCE);
      x[column * 16 + row] = tile[column * 64 + row];
    })"));
  for (const char* offset : {"+64]", "+128]", "+192]"}) EXPECT_TRUE(contains(ptx, offset)) << offset;
}

}  // namespace
}  // namespace clique::daemon::compiler
