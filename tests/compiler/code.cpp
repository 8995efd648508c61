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

TEST(Code, GivenLoopsThenEachIterationEndsWithAConditionalBranchBack) {
  const std::string ptx = ptx_of(built(R"(
    kernel void k(global int* out, int n) {
      int x = out[get_global_id(0)];
      for (int i = 0; i < n; ++i) x = x * 1664525 + 1013904223;
      out[get_global_id(0)] = x;
    })"));
  EXPECT_TRUE(contains(ptx, "mad.lo.s32")) << ptx;
  EXPECT_FALSE(contains(ptx, "bra.uni")) << ptx;
}

TEST(Code, GivenLoadsUnderConditionsThenTheyArePredicatedWithoutBranches) {
  const std::string ptx = ptx_of(built(R"(
    kernel void k(global float* out, global const float* in, global const long* numbers, int n, long other) {
      const int i = get_global_id(0);
      out[i] += i < n ? in[i + 1] : 0.0f;
      out[i] *= i > 2 * n ? 1.5f : in[i + 2];
      out[i + n] = (float)(i != n ? numbers[i] : other);
    })"));
  EXPECT_FALSE(contains(ptx, "bra")) << ptx;
  EXPECT_TRUE(contains(ptx, " ld.global.b32 ")) << ptx;
  EXPECT_TRUE(contains(ptx, " ld.global.b64 ")) << ptx;
}

TEST(Code, GivenGuardedLoadsOfConstantMemoryThenTheyUseTheReadOnlyCache) {
  const std::string ptx = ptx_of(built(R"(
    kernel void k(global float* restrict out, global const float* restrict in, int n) {
      const int i = get_global_id(0);
      out[i] = i < n ? in[i + 1] : 0.0f;
    })"));
  EXPECT_TRUE(contains(ptx, " ld.global.nc.b32 ")) << ptx;
}

TEST(Code, GivenGuardedLoadsFromAnyAddressThenNoneIsWiderThanItsAlignment) {
  const std::string ptx = ptx_of(built(R"(
    struct __attribute__((packed)) odd { char first; float second; };
    kernel void k(global float* out, global const struct odd* in, int n) {
      const int i = get_global_id(0);
      out[i] = i < n ? in[i].second : 0.0f;
    })"));
  EXPECT_FALSE(contains(ptx, "ld.global.b32")) << ptx;
  EXPECT_TRUE(contains(ptx, "ld.global.u8")) << ptx;
}

TEST(Code, GivenVolatileLoadsUnderConditionsThenTheyStayBehindBranches) {
  const std::string ptx = ptx_of(built(R"(
    kernel void k(global float* out, global volatile float* in, int n) {
      const int i = get_global_id(0);
      out[i] = i < n ? in[i] : 0.0f;
    })"));
  EXPECT_TRUE(contains(ptx, "ld.volatile.global")) << ptx;
  EXPECT_TRUE(contains(ptx, "bra")) << ptx;
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

// Two rounds of MD5, in a function that kernels give a private array.
std::string search_by(const std::string& attribute) {
  return R"(
    #define STEP(f, a, b, c, d, x, t, s) a = rotate(a + f(b, c, d) + (x) + (t), s) + b
    #define F(x, y, z) (z ^ (x & (y ^ z)))
    #define FOUR(f, i, t) \
      STEP(f, a, b, c, d, w[i % 16], t, 7u); STEP(f, d, a, b, c, w[(i + 1) % 16], t + 1, 12u); \
      STEP(f, c, d, a, b, w[(i + 2) % 16], t + 2, 17u); STEP(f, b, c, d, a, w[(i + 3) % 16], t + 3, 22u)
    #define SIXTEEN(f, t) FOUR(f, 0, t); FOUR(f, 4, t * 3u); FOUR(f, 8, t * 5u); FOUR(f, 12, t * 7u)
    void )" +
         attribute + R"( search(uint* w, global uint* found, uint end) {
      for (uint i = 0; i < end; ++i) {
        uint a = 1, b = 2, c = 3, d = 4;
        w[0] = i;
        SIXTEEN(F, 0x5a827999u); SIXTEEN(F, 0x6ed9eba1u); SIXTEEN(F, 0x8f1bbcdcu); SIXTEEN(F, 0xca62c1d6u);
        SIXTEEN(F, 0x428a2f98u); SIXTEEN(F, 0x71374491u); SIXTEEN(F, 0xb5c0fbcfu); SIXTEEN(F, 0xe9b5dba5u);
        if (a == found[0] && d == found[1]) found[2] = i;
      }
    }
    kernel void few(global uint* found, uint end) {
      uint w[16] = {0, 1, 2, 3};
      search(w, found, end);
    }
    kernel void many(global uint* found, global const uint* words, uint end) {
      uint w[16];
      for (int i = 0; i < 16; ++i) w[i] = words[i];
      search(w, found, end);
    })";
}

TEST(Code, GivenLargeFunctionOfTwoKernelsThenItsArraysAreInRegisters) {
  const std::string ptx = ptx_of(built(search_by("")));
  EXPECT_FALSE(contains(ptx, "call")) << ptx;
  EXPECT_FALSE(contains(ptx, ".local")) << ptx;
}

TEST(Code, GivenNoinlineThenTheFunctionIsCalled) {
  EXPECT_TRUE(contains(ptx_of(built(search_by("__attribute__((noinline))"))), "call"));
}

// The schedule of keys of a cipher: nine blocks, each of which depends on the array that it changes.
TEST(Code, GivenLongLoopOverPrivateArrayThenTheArrayIsInRegisters) {
  const std::string ptx = ptx_of(built(R"(
    #define ROUND(l, r, n) \
      r ^= p[n] ^ (((s[l >> 24] + s[256 + (l >> 16 & 255)]) ^ s[512 + (l >> 8 & 255)]) + s[768 + (l & 255)])
    #define TWO(n) ROUND(l, r, n); ROUND(r, l, n + 1)
    kernel void schedule(global uint* keys, local uint* s, uint end) {
      uint p[18];
      for (int i = 0; i < 18; ++i) p[i] = keys[i];
      for (uint round = 0; round < end; ++round) {
        uint l = 0, r = 0;
        for (int i = 0; i < 9; ++i) {
          l ^= p[0];
          TWO(1); TWO(3); TWO(5); TWO(7); TWO(9); TWO(11); TWO(13); TWO(15);
          p[2 * i] = l;
          p[2 * i + 1] = r ^ p[17];
        }
      }
      for (int i = 0; i < 18; ++i) keys[i] = p[i];
    })"));
  EXPECT_FALSE(contains(ptx, ".local")) << ptx;
}

// Each function calls the one before ten times, so that the kernel would have 10^8 instructions.
TEST(Code, GivenCallsThatMultiplyThenTheBuildTakesNoLongerForIt) {
  std::string source = "float f0(float x) { return sin(x) * x; }\n";
  for (int i = 1; i <= 8; ++i) {
    const std::string before = "f" + std::to_string(i - 1) + "(x + ";
    source += "float f" + std::to_string(i) + "(float x) { return 0";
    for (int call = 0; call < 10; ++call) source += " + " + before + std::to_string(call) + ")";
    source += "; }\n";
  }
  EXPECT_TRUE(contains(ptx_of(built(source + "kernel void k(global float* x) { *x = f8(*x); }")), "call"));
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
