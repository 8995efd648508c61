// cl_clique_cooperative_matrix: the instructions of matrices, and what is refused.
#include <CL/cl.h>

#include <algorithm>

#include "daemon/compiler/contract/language_features.hpp"
#include "fixture.hpp"

namespace clique::daemon::compiler {
namespace {

/// The sum of products of columns of A and rows of B, which are copied to local memory step by step.
std::string gemm(const std::string& a, const std::string& b, const std::string& sum,
                 const std::string& element, const std::string& of_sum, const std::string& order_a,
                 const std::string& order_b) {
  return R"(
    #pragma OPENCL EXTENSION cl_khr_fp16 : enable
    kernel __attribute__((reqd_work_group_size(32, 1, 1))) void k(global const )" +
         element + "* a, global const " + element + "* b, global " + of_sum + R"(* c, int steps) {
      local )" +
         element + R"( tile[2][512] __attribute__((aligned(16)));
      clique_)" +
         sum + " sum = clique_fill_" + sum + R"((0);
      for (int step = 0; step < steps; ++step) {
        for (int i = get_local_id(0); i < 512; i += 32) tile[0][i] = a[i], tile[1][i] = b[i];
        barrier(CLK_LOCAL_MEM_FENCE);
        sum = clique_matrix_multiply_add(clique_load_)" +
         a + "(tile[0], 16, " + order_a + "), clique_load_" + b + "(tile[1], 16, " + order_b + R"(), sum);
        barrier(CLK_LOCAL_MEM_FENCE);
      }
      clique_matrix_store(sum, c, 16, CLIQUE_ROW_MAJOR);
    })";
}

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++count;
  return count;
}

TEST(CooperativeMatrix, GivenProductsThenTheirInstructions) {
  struct Case {
    const char *a, *b, *sum, *element, *of_sum, *instruction;
  };
  const Case cases[] = {
      {"half16x16_a", "half16x16_b", "float16x16", "half", "float", "m16n8k16.row.col.f32.f16.f16.f32"},
      {"half16x16_a", "half16x16_b", "half16x16", "half", "half", "m16n8k16.row.col.f16.f16.f16.f16"},
      {"bfloat16x16_a", "bfloat16x16_b", "float16x16", "ushort", "float",
       "m16n8k16.row.col.f32.bf16.bf16.f32"},
      {"char16x32_a", "char32x16_b", "int16x16", "char", "int", "m16n8k32.row.col.s32.s8.s8.s32"},
      {"uchar16x32_a", "uchar32x16_b", "int16x16", "uchar", "int", "m16n8k32.row.col.s32.u8.u8.s32"},
  };
  for (const Case& each : cases)
    for (const char* architecture : {"sm_80", "sm_90"}) {
      const std::string ptx = ptx_of(built(gemm(each.a, each.b, each.sum, each.element, each.of_sum,
                                                "CLIQUE_ROW_MAJOR", "CLIQUE_COLUMN_MAJOR"),
                                           "", architecture));
      EXPECT_EQ(count_of(ptx, std::string("mma.sync.aligned.") + each.instruction), 2U) << ptx;
      EXPECT_EQ(count_of(ptx, "ldmatrix.sync.aligned.m8n8.x4.shared.b16"), 2U) << ptx;
      EXPECT_FALSE(contains(ptx, "local_depot"));
      EXPECT_FALSE(contains(ptx, "call"));
    }
}

TEST(CooperativeMatrix, GivenFactorsOf16BitsThenBothOrdersAreOneInstruction) {
  const auto loads = [](const char* order_a, const char* order_b) {
    const std::string ptx =
        ptx_of(built(gemm("half16x16_a", "half16x16_b", "float16x16", "half", "float", order_a, order_b)));
    return std::pair(count_of(ptx, "m8n8.x4.shared"), count_of(ptx, "m8n8.x4.trans.shared"));
  };
  EXPECT_EQ(loads("CLIQUE_ROW_MAJOR", "CLIQUE_COLUMN_MAJOR"), std::pair(2UL, 0UL));
  EXPECT_EQ(loads("CLIQUE_ROW_MAJOR", "CLIQUE_ROW_MAJOR"), std::pair(1UL, 1UL));
  EXPECT_EQ(loads("CLIQUE_COLUMN_MAJOR", "CLIQUE_COLUMN_MAJOR"), std::pair(1UL, 1UL));
  EXPECT_EQ(loads("CLIQUE_COLUMN_MAJOR", "CLIQUE_ROW_MAJOR"), std::pair(0UL, 2UL));
}

TEST(CooperativeMatrix, GivenGlobalMemoryThenUnitsAreReadAndWritten) {
  const std::string ptx = ptx_of(built(R"(
    kernel void k(global const ushort* a, global float* c) {
      const clique_bfloat16x16_a left = clique_load_bfloat16x16_a(a, 16, CLIQUE_ROW_MAJOR);
      const clique_bfloat16x16_b right = clique_load_bfloat16x16_b(a + 256, 16, CLIQUE_COLUMN_MAJOR);
      const clique_float16x16 none = clique_fill_float16x16(0.0f);
      clique_matrix_store(clique_matrix_multiply_add(left, right, none), c, 16, CLIQUE_ROW_MAJOR);
    })"));
  EXPECT_EQ(count_of(ptx, "ld.global.u32"), 8U) << ptx;
  EXPECT_EQ(count_of(ptx, "st.global.v2.f32"), 4U) << ptx;
}

TEST(CooperativeMatrix, GivenHalvesInGlobalMemoryThenTheyAreReadInPairs) {
  const std::string ptx = ptx_of(built(R"(
    kernel void k(global const half* a, global const half* b, global float* c, uint depth) {
      clique_float16x16 sum = clique_fill_float16x16(0.0f);
      for (uint k = 0; k < depth; k += 16)
        sum = clique_matrix_multiply_add(clique_load_half16x16_a(a + k, depth, CLIQUE_ROW_MAJOR),
                                         clique_load_half16x16_b(b + k, depth, CLIQUE_COLUMN_MAJOR), sum);
      clique_matrix_store(sum, c, 16, CLIQUE_ROW_MAJOR);
    })"));
  EXPECT_EQ(count_of(ptx, "ld.global.u32"), 8U) << ptx;
  EXPECT_EQ(count_of(ptx, "ld.global.u16"), 0U) << ptx;
}

TEST(CooperativeMatrix, GivenOneWorkItemThatUsesTheResultThenAllExecuteTheProduct) {
  const std::string ptx = ptx_of(built(R"(
    kernel void k(global const char* a, global int* c) {
      const clique_char16x32_a left = clique_load_char16x32_a(a, 32, CLIQUE_ROW_MAJOR);
      const clique_char32x16_b right = clique_load_char32x16_b(a, 32, CLIQUE_COLUMN_MAJOR);
      const clique_int16x16 sum = clique_matrix_multiply_add(left, right, clique_fill_int16x16(1));
      if (get_local_id(0) == 0) {
        c[0] = sum.element[0];
        c[1] = sum.element[7];
        atomic_inc(c + 2);
      }
    })"));
  const std::size_t branch = ptx.find("bra");
  ASSERT_NE(branch, std::string::npos) << ptx;
  EXPECT_LT(ptx.rfind("mma.sync"), branch) << ptx;
}

TEST(CooperativeMatrix, GivenOrderAndStrideAtRunTimeThenItBuilds) {
  const std::string ptx = ptx_of(built(R"(
    kernel void k(global int* c, local int* d, uint stride, int order) {
      clique_matrix_store(clique_load_int16x16(c, stride, order), d, stride, 1 - order);
    })"));
  EXPECT_TRUE(contains(ptx, "ld.global.v2.u32"));
  EXPECT_TRUE(contains(ptx, "st.shared.v2.u32"));
}

TEST(CooperativeMatrix, GivenWrongUseThenTheBuildFailsAndSaysWhere) {
  struct Case {
    const char* statement;
    const char* message;
  };
  const Case cases[] = {
      {"clique_matrix_multiply_add(b, a, c);",
       "no matching function for call to 'clique_matrix_multiply_add'"},
      {"clique_matrix_multiply_add(a, b, d);",
       "no matching function for call to 'clique_matrix_multiply_add'"},
      {"clique_matrix_multiply_add(a, e, d);",
       "no matching function for call to 'clique_matrix_multiply_add'"},
      {"a = clique_load_half16x16_b(halves, 16, 0);", "incompatible type 'clique_half16x16_b'"},
      {"a = clique_load_half16x16_a(own, 16, 0);",
       "no matching function for call to 'clique_load_half16x16_a'"},
      {"clique_matrix_store(b, own, 16, 0);", "no matching function for call to 'clique_matrix_store'"},
      {"half x = a + a;", "invalid operands to binary expression"},
      {"clique_double16x16 x;", "unknown type name 'clique_double16x16'"},
  };
  for (const Case& each : cases) {
    const Result result = build(std::string(R"(#pragma OPENCL EXTENSION cl_khr_fp16 : enable
      kernel void k(global half* halves) {
        half own[256];
        clique_half16x16_a a; clique_half16x16_b b; clique_char32x16_b e;
        clique_float16x16 c; clique_int16x16 d;
        )") + each.statement + " }");
    EXPECT_EQ(result.status, CL_BUILD_PROGRAM_FAILURE) << each.statement;
    EXPECT_TRUE(contains(result.log, each.message));
  }
}

TEST(CooperativeMatrix, GivenDeviceWithoutTheExtensionThenItsNamesAreFree) {
  Request request = build_request(R"(
    #ifdef cl_clique_cooperative_matrix
    #error defined
    #endif
    typedef int clique_float16x16;
    kernel void k(global int* x) { const clique_float16x16 CLIQUE_ROW_MAJOR = *x; *x = CLIQUE_ROW_MAJOR + 1; })");
  std::erase(request.extensions, kCooperativeMatrix);
  const Result result = shared_compiler().run(request, kLimit);
  EXPECT_EQ(result.status, CL_SUCCESS) << result.log;
}

// The header does not change what else programs may use.
TEST(CooperativeMatrix, GivenProgramWithoutHalfPrecisionThenItMustEnableIt) {
  const std::string use = "kernel void k(global float* x) { half h = *x; *x = h; }";
  EXPECT_EQ(build(use).status, CL_BUILD_PROGRAM_FAILURE);
  EXPECT_EQ(build("#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n" + use).status, CL_SUCCESS);
  EXPECT_EQ(built("kernel void k(global int* x) { *x = cl_clique_cooperative_matrix; }").kernels.size(), 1U);
}

}  // namespace
}  // namespace clique::daemon::compiler
