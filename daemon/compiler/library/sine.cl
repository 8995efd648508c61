// Sine and cosine of floats (§6.15.2). The error is at most 1.6 ulp up to 2^16 and 2.8 ulp beyond; all floats
// were compared with the host's double precision. libdevice is as accurate, but reduces large arguments in a
// loop through local memory. Inlined several times into a kernel, that takes more registers than everything
// else.
#include "builtins.h"

// The bits of 2/π after the binary point, preceded by 32 zeros.
static __constant uint two_over_pi[] = {0,          0xa2f9836e, 0x4e441529, 0xfc2757d1,
                                        0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab};

static uint bits_from(uint word, uint shift) {
  return (uint)((((ulong)two_over_pi[word] << 32 | two_over_pi[word + 1]) << shift) >> 32);
}

// Reduces a float of magnitude 2^16 or more: returns the difference to the nearest multiple of π/2. Of the
// product with 2/π, only the part below 4 matters. So the bits of 2/π that are used begin with the one that
// contributes 2. With 96 of them, more than 30 bits of the result are correct, however close the float is to
// a multiple of π/2.
INLINE static float reduce_large(float x, uint* quadrant) {
  uint bits = as_uint(x);
  uint begin = (bits >> 23 & 0xff) - 120;
  uint word = begin / 32;
  uint shift = begin % 32;
  uint digits = bits & 0x7fffff | 0x800000;
  ulong product = ((ulong)(digits * bits_from(word, shift)) << 32) + (ulong)digits * bits_from(word + 1, shift) +
                  mul_hi(digits, bits_from(word + 2, shift));
  uint nearest = ((uint)(product >> 61) + 1) / 2;
  float rest = (float)(long)(product << 2) * 0x1.921fb6p-64f;
  *quadrant = signbit(x) ? -nearest : nearest;
  // Infinities and NaN become NaN.
  return fma(x, 0.0f, signbit(x) ? -rest : rest);
}

static float reduce(float x, uint* quadrant) {
  if (fabs(x) > 0x1p16f) return reduce_large(x, quadrant);
  // Adding this number rounds to an integer, which the low bits of the sum contain.
  const float rounder = 0x1.8p23f;
  float sum = fma(x, M_2_PI_F, rounder);
  float multiple = sum - rounder;
  *quadrant = as_uint(sum);
  // π/2 in three parts. The first product and the first difference are exact.
  float rest = fma(multiple, -0x1.921fb4p+0f, x);
  rest = fma(multiple, -0x1.4442dp-24f, rest);
  return fma(multiple, -0x1.846988p-48f, rest);
}

// Minimax polynomials for magnitudes up to π/4.
static float sine_near_0(float x, float square) {
  float p = fma(square, -0x1.991c26p-13f, 0x1.1106c6p-7f);
  p = fma(p, square, -0x1.555544p-3f);
  // The sum keeps the sign of -0.
  return fma(p, fma(square, x, 0.0f), x);
}
static float cosine_near_0(float square) {
  float p = fma(square, 0x1.99e24p-16f, -0x1.6c0c1cp-10f);
  p = fma(p, square, 0x1.55554ap-5f);
  p = fma(p, square, -0.5f);
  return fma(p, square, 1.0f);
}

static float negate_by(float x, uint sign) { return as_float(as_uint(x) ^ sign & 0x80000000); }

INLINE OVERLOAD float sincos(float x, float* cosine) {
  uint quadrant;
  float rest = reduce(x, &quadrant);
  float s = sine_near_0(rest, rest * rest);
  float c = cosine_near_0(rest * rest);
  bool odd = quadrant & 1;
  *cosine = negate_by(odd ? s : c, (quadrant + 1) << 30);
  return negate_by(odd ? c : s, quadrant << 30);
}

OVERLOAD float sin(float x) {
  float cosine;
  return sincos(x, &cosine);
}

OVERLOAD float cos(float x) {
  float cosine;
  sincos(x, &cosine);
  return cosine;
}
