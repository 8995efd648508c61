// cl_khr_fp16: arithmetic, conversions and vectors of half; and vload_half and vstore_half, which every
// device supports.
#include <cmath>

#include "gpu.hpp"

namespace clique::test {

namespace {

/// The value of a half, from its bits.
float float_of(cl_half bits) {
  const int exponent = (bits >> 10U) & 31U;
  const float mantissa = static_cast<float>(bits & 1023U);
  float magnitude = std::ldexp(mantissa, -24);
  if (exponent == 31) {
    magnitude = mantissa != 0 ? NAN : INFINITY;
  } else if (exponent != 0) {
    magnitude = std::ldexp(1024 + mantissa, exponent - 25);
  }
  return (bits & 0x8000U) != 0 ? -magnitude : magnitude;
}

}  // namespace

class Half : public GpuTest {};

TEST_F(Half, GivenEveryHalfWhenLoadedThenItsValue) {
  const Program program = build(
      "kernel void k(global const half* in, global float* out) {"
      " out[get_global_id(0)] = vload_half(get_global_id(0), in); }");
  const Kernel k = kernel(program, "k");
  std::vector<cl_half> all(65536);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<cl_half>(i);
  const Mem in = buffer(all.size(), all.data());
  const Mem out = buffer<float>(all.size());
  set_args(k, in, out);
  ASSERT_CL(launch(k, all.size()));
  const auto got = read<float>(out, all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    const float expected = float_of(all[i]);
    ASSERT_TRUE(std::isnan(expected) ? std::isnan(got[i]) : expected == got[i])
        << std::hex << i << ": " << got[i];
  }
}

TEST_F(Half, GivenDenormalsOfFloatAreZeroThenThoseOfHalfAreKept) {
  if (!has_extension("cl_khr_fp16")) GTEST_SKIP() << "no arithmetic with half";
  const char* const source = R"(
    #pragma OPENCL EXTENSION cl_khr_fp16 : enable
    kernel void k(global const half* in, global half* out) {
      const uint i = get_global_id(0);
      out[i] = in[i] + as_half((ushort)0x0040);
    })";
  for (const char* options : {"", "-cl-denorms-are-zero"}) {
    const Program program = build(source, options);
    const Kernel k = kernel(program, "k");
    // 0, denormal numbers of both signs, the smallest normal number, and one that the sum does not change.
    const std::vector<cl_half> data = {0x0000, 0x0001, 0x8040, 0x8041, 0x03FF, 0x0400, 0x3C00};
    const Mem in = buffer(data.size(), data.data());
    const Mem out = buffer<cl_half>(data.size());
    set_args(k, in, out);
    ASSERT_CL(launch(k, data.size()));
    EXPECT_EQ((std::vector<cl_half>{0x0040, 0x0041, 0x0000, 0x8001, 0x043F, 0x0440, 0x3C00}),
              read<cl_half>(out, data.size()))
        << options;
  }
}

TEST_F(Half, GivenRoundingModesWhenStoredThenNeighbouringHalves) {
  const Program program = build(R"(
    kernel void k(global const float* in, global half* out, uint n) {
      const uint i = get_global_id(0);
      vstore_half_rte(in[i], i, out);
      vstore_half_rtz(in[i], i, out + n);
      vstore_half_rtp(in[i], i, out + 2 * n);
      vstore_half_rtn(in[i], i, out + 3 * n);
    })");
  const Kernel k = kernel(program, "k");
  // Numbers between 1 and the next half: below, at and above the middle; and the same numbers negated.
  const float step = std::ldexp(1.0F, -10);
  const std::vector<float> data = {1 + step / 4,  1 + step / 2,  1 + 3 * step / 4,  1 + 3 * step / 2,
                                   -1 - step / 4, -1 - step / 2, -1 - 3 * step / 4, -1 - 3 * step / 2};
  const auto count = static_cast<cl_uint>(data.size());
  const Mem in = buffer(count, data.data());
  const Mem out = buffer<cl_half>(4 * size_t{count});
  set_args(k, in, out, count);
  ASSERT_CL(launch(k, count));
  const cl_half plus = 0x3c00, minus = 0xbc00;
  const std::vector<cl_half> expected = {
      plus,     plus,     plus + 1, plus + 2, minus,     minus,     minus + 1, minus + 2,  // to nearest even
      plus,     plus,     plus,     plus + 1, minus,     minus,     minus,     minus + 1,  // to zero
      plus + 1, plus + 1, plus + 1, plus + 2, minus,     minus,     minus,     minus + 1,  // up
      plus,     plus,     plus,     plus + 1, minus + 1, minus + 1, minus + 1, minus + 2,  // down
  };
  EXPECT_EQ(expected, read<cl_half>(out, expected.size()));
}

TEST_F(Half, GivenArithmeticThenResultsAreRoundedToHalf) {
  if (!has_extension("cl_khr_fp16")) GTEST_SKIP() << "no cl_khr_fp16";
  const Program program = build(R"(
    #pragma OPENCL EXTENSION cl_khr_fp16 : enable
    kernel void k(global const half* a, global const half* b, global half* out, uint n) {
      const uint i = get_global_id(0);
      out[i] = a[i] + b[i];
      out[n + i] = a[i] * b[i];
      out[2 * n + i] = fma(a[i], b[i], (half)1.0h);
      out[3 * n + i] = fmax(a[i], b[i]);
      half4 v = (half4)(a[i], b[i], 2.0h, 3.0h);
      out[4 * n + i] = dot(v.xy, v.zw);
      out[5 * n + i] = convert_half(convert_float(a[i]) * 0.5f);
      out[6 * n + i] = a[i] < b[i] ? (half)1.0h : (half)0.0h;
    })");
  const Kernel k = kernel(program, "k");
  std::vector<cl_half> a, b;
  for (cl_uint i = 0; i < 256; ++i) {
    // Finite numbers from 2^-7 to 2^8, of both signs.
    a.push_back(static_cast<cl_half>(0x2000 + (i * 4099U) % 0x3c00U));
    b.push_back(static_cast<cl_half>((0x2000 + (i * 7919U) % 0x3c00U) | ((i & 1U) << 15U)));
  }
  const auto count = static_cast<cl_uint>(a.size());
  const Mem in_a = buffer(count, a.data());
  const Mem in_b = buffer(count, b.data());
  const Mem out = buffer<cl_half>(7 * size_t{count});
  set_args(k, in_a, in_b, out, count);
  ASSERT_CL(launch(k, count));
  const auto got = read<cl_half>(out, 7 * size_t{count});
  // The largest error of a correctly rounded result between 2^-24 and 65504: half a unit in the last place.
  const auto near = [](double expected, cl_half bits, double units) {
    if (std::abs(expected) > 65504) return true;
    const double step =
        std::max(std::ldexp(1.0, -24), std::ldexp(1.0, std::ilogb(std::abs(expected) + 1e-30) - 10));
    return std::abs(float_of(bits) - expected) <= units * step;
  };
  for (size_t i = 0; i < count; ++i) {
    const double x = float_of(a[i]), y = float_of(b[i]);
    EXPECT_TRUE(near(x + y, got[i], 0.5)) << x << " + " << y << " = " << float_of(got[i]);
    EXPECT_TRUE(near(x * y, got[count + i], 0.5)) << x << " * " << y << " = " << float_of(got[count + i]);
    EXPECT_TRUE(near(x * y + 1, got[2 * count + i], 0.5))
        << x << " * " << y << " + 1 = " << float_of(got[2 * count + i]);
    EXPECT_EQ(std::max(x, y), float_of(got[3 * count + i]));
    EXPECT_TRUE(
        near(2 * x + 3 * y, got[4 * count + i], 4 + 4 * std::abs(x) / (std::abs(2 * x + 3 * y) + 1e-6)))
        << x << ", " << y << ": " << float_of(got[4 * count + i]);
    EXPECT_TRUE(near(x / 2, got[5 * count + i], 0.5));
    EXPECT_EQ(x < y ? 1.0F : 0.0F, float_of(got[6 * count + i]));
  }
}

}  // namespace clique::test
