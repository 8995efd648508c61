// The PTX of programs for which it could easily be wrong or slow.
#include "fixture.hpp"

namespace clique::daemon::compiler {
namespace {

TEST(Code, GivenBytesAtAnyAddressThenNoAccessIsWiderThanTheirAlignment) {
  const std::string ptx = ptx_of(built(R"(
    kernel void read(global uchar* out, global const uchar* in) { out[0] = vload16(0, in + 1).s7; }
    kernel void write(global char* out, char value) { vstore16((char16)(value), 0, out + 3); }
    kernel void both(global uchar* out, local uchar* in) { vstore16(vload16(1, in + 1), 0, out); })"));
  for (const char* wide : {"ld.global.v", "ld.shared.v", "st.global.v", "ld.global.u32", "st.global.u32"})
    EXPECT_FALSE(contains(ptx, wide)) << ptx;
}

TEST(Code, GivenAlignedBytesThenTheyAreReadAtOnce) {
  const std::string ptx =
      ptx_of(built("kernel void copy(global uchar16* out, global const uchar16* in) { *out = *in; }"));
  EXPECT_TRUE(contains(ptx, "ld.global.v4.u32"));
  EXPECT_TRUE(contains(ptx, "st.global.v4.u32"));
}

TEST(Code, GivenTwoBytesAsParametersThenNoMoreArePassed) {
  const std::string ptx = ptx_of(built(R"(
    uchar2 __attribute__((noinline)) turned(uchar2 value) { return value.yx; }
    kernel void copy(char2 value, global char2* out) { *out = value; }
    kernel void turn(uchar2 value, global uchar2* out) { *out = turned(value); })"));
  for (const char* wide : {"ld.param.u32", "_param_0[2]", "mov.b32"})
    EXPECT_FALSE(contains(ptx, wide)) << ptx;
  EXPECT_TRUE(contains(ptx, "ld.param.u16"));
}

TEST(Code, GivenRequiredWorkGroupSizeThenLoopsOverItsItemsHaveNoBranches) {
  const std::string ptx = ptx_of(built(R"(
    kernel __attribute__((reqd_work_group_size(32, 8, 1))) void tile(global float* out, global const float* in) {
      for (int i = get_local_id(1); i < 32; i += get_local_size(1)) out[i * 32 + get_local_id(0)] = in[i];
    })"));
  EXPECT_FALSE(contains(ptx, "bra")) << ptx;
}

TEST(Code, GivenVectorsOfHalfThenTwoAreComputedAtOnce) {
  const std::string ptx = ptx_of(built(R"(
    #pragma OPENCL EXTENSION cl_khr_fp16 : enable
    kernel void k(global half4* a, half4 b) {
      const size_t i = get_global_id(0);
      a[i] = fma(a[i], b, b);
      a[i + 1] = fmax(min(a[i + 1], b), (half)1);
    })"));
  for (const char* instruction : {"fma.rn.f16x2", "min.f16x2", "max.f16x2"})
    EXPECT_TRUE(contains(ptx, instruction));
  for (const char* instruction : {"fma.rn.f16\t", "min.f16\t", "max.f16\t"})
    EXPECT_FALSE(contains(ptx, instruction)) << ptx;
}

TEST(Code, GivenDenormalsAreZeroThenThoseOfHalfAreKept) {
  const char* const source = R"(
    #pragma OPENCL EXTENSION cl_khr_fp16 : enable
    kernel void k(global half* h, global half2* v, global float* f) {
      h[0] = h[1] + as_half((ushort)0x0040);
      h[2] = fma(h[3], h[4], h[5]) < h[6] ? -h[7] : fmax(h[8], h[9]);
      v[0] = v[1] * v[2] + v[3];
      f[0] = f[1] + (float)h[10];
    })";
  for (const char* options : {"-cl-denorms-are-zero", "-cl-fast-relaxed-math"}) {
    const std::string ptx = ptx_of(built(source, options));
    EXPECT_FALSE(contains(ptx, ".ftz.f16")) << ptx;
    EXPECT_TRUE(contains(ptx, ".ftz.f32"));
    EXPECT_TRUE(contains(ptx, "fma.rn.f16x2"));
  }
}

}  // namespace
}  // namespace clique::daemon::compiler
