// Mathematical functions (§6.15.2), except the transcendental functions of scalar float and double. Those are
// defined in math_libdevice.cl, or in libclc, and called here.
#include "builtins.h"

// Functions of half compute in float and round the result to half. The error is within the limits for half
// (§7.4).
#define HALF1(R, name) \
  OVERLOAD R name(half a) { return (R)name((float)a); }
#define HALF2(R, name) \
  OVERLOAD R name(half a, half b) { return (R)name((float)a, (float)b); }

#define VECTORS1(name) MAP1(float, name, float) MAP1(double, name, double) MAP1(half, name, half)
#define VECTORS2(name) \
  MAP2(float, name, float, float) MAP2(double, name, double, double) MAP2(half, name, half, half)

// ---- Overloads of the transcendental functions that the other file defines

#define TRANSCENDENTAL1(name) HALF1(half, name) VECTORS1(name)
#define TRANSCENDENTAL2(name) HALF2(half, name) VECTORS2(name)

TRANSCENDENTAL1(acos)
TRANSCENDENTAL1(acosh)
TRANSCENDENTAL1(asin)
TRANSCENDENTAL1(asinh)
TRANSCENDENTAL1(atan)
TRANSCENDENTAL1(atanh)
TRANSCENDENTAL1(cbrt)
TRANSCENDENTAL1(cos)
TRANSCENDENTAL1(cosh)
TRANSCENDENTAL1(cospi)
TRANSCENDENTAL1(erf)
TRANSCENDENTAL1(erfc)
TRANSCENDENTAL1(exp)
TRANSCENDENTAL1(exp2)
TRANSCENDENTAL1(exp10)
TRANSCENDENTAL1(expm1)
TRANSCENDENTAL1(lgamma)
TRANSCENDENTAL1(log)
TRANSCENDENTAL1(log2)
TRANSCENDENTAL1(log10)
TRANSCENDENTAL1(log1p)
TRANSCENDENTAL1(logb)
TRANSCENDENTAL1(rsqrt)
TRANSCENDENTAL1(sin)
TRANSCENDENTAL1(sinh)
TRANSCENDENTAL1(sinpi)
TRANSCENDENTAL1(tan)
TRANSCENDENTAL1(tanh)
TRANSCENDENTAL1(tgamma)
TRANSCENDENTAL2(atan2)
TRANSCENDENTAL2(fmod)
TRANSCENDENTAL2(hypot)
TRANSCENDENTAL2(pow)
TRANSCENDENTAL2(remainder)

HALF1(int, ilogb)
MAP1(int, ilogb, float)
MAP1(int, ilogb, double)
MAP1(int, ilogb, half)

MAP2(float, nextafter, float, float)
MAP2(double, nextafter, double, double)
OVERLOAD half nextafter(half from, half to) {
  if (isnan(from) || isnan(to)) return from + to;
  if (from == to) return to;
  if (from == 0) return copysign(as_half((short)1), to);
  short bits = as_short(from);
  return as_half((short)(bits + ((from < to) == (bits >= 0) ? 1 : -1)));
}
MAP2(half, nextafter, half, half)

OVERLOAD half ldexp(half x, int exponent) { return (half)ldexp((float)x, exponent); }
#define LDEXP(T) MAP2(T, ldexp, T, int) SPREAD2(T, ldexp, int)
FOR_FLOATS(LDEXP)

// Computes the arctangent of the smaller magnitude divided by the larger, by a minimax polynomial on [0, 1]
// whose error is a third of a unit in the last place, and then moves the angle to the right octant.
OVERLOAD float atan2(float y, float x) {
  if (isunordered(x, y)) return x + y;
  float larger = fmax(fabs(x), fabs(y));
  float smaller = fmin(fabs(x), fabs(y));
  float q = larger == 0 ? 0 : isinf(smaller) ? 1 : smaller / larger;
  float s = q * q;
  float p = 0.00292064599f;
  p = fma(p, s, -0.0163677447f);
  p = fma(p, s, 0.0432115644f);
  p = fma(p, s, -0.0755218938f);
  p = fma(p, s, 0.106659934f);
  p = fma(p, s, -0.142110527f);
  p = fma(p, s, 0.199937731f);
  p = fma(p, s, -0.333331525f);
  float angle = fma(q * s, p, q);
  if (fabs(y) > fabs(x)) angle = M_PI_2_F - angle;
  if (signbit(x)) angle = M_PI_F - angle;
  return copysign(angle, y);
}

// ---- Functions of one or a few instructions

#define INSTRUCTION1(name)                                        \
  OVERLOAD float name(float x) { return __builtin_##name##f(x); } \
  OVERLOAD double name(double x) { return __builtin_##name(x); }  \
  OVERLOAD half name(half x) { return __builtin_##name##f16(x); } \
  VECTORS1(name)
INSTRUCTION1(ceil)
INSTRUCTION1(fabs)
INSTRUCTION1(floor)
INSTRUCTION1(rint)
INSTRUCTION1(trunc)

OVERLOAD float sqrt(float x) { return __builtin_sqrtf(x); }
OVERLOAD double sqrt(double x) { return __builtin_sqrt(x); }
// The result is rounded twice. That is correct only if the first rounding is, hence sqrt_rn.
OVERLOAD half sqrt(half x) { return (half)__nvvm_sqrt_rn_f((float)x); }
VECTORS1(sqrt)

OVERLOAD float round(float x) { return __builtin_roundf(x); }
OVERLOAD double round(double x) { return __builtin_round(x); }
HALF1(half, round)
VECTORS1(round)

// GPUs compute two halves in one instruction. LLVM does not join scalar operations to such an instruction.
#define EXTREME(name, operation)                                              \
  OVERLOAD float name(float x, float y) { return __builtin_##name##f(x, y); } \
  OVERLOAD double name(double x, double y) { return __builtin_##name(x, y); } \
  OVERLOAD half name(half x, half y) { return __builtin_##name##f16(x, y); }  \
  MAP2(float, name, float, float)                                             \
  MAP2(double, name, double, double)                                          \
  OVERLOAD half2 name(half2 x, half2 y) { return operation(x, y); }           \
  MAP2_OF_PAIRS(half, name, half, half)                                       \
  SPREAD2(float, name, float)                                                 \
  SPREAD2(double, name, double)                                               \
  SPREAD2(half, name, half)
EXTREME(fmax, __builtin_elementwise_max)
EXTREME(fmin, __builtin_elementwise_min)

OVERLOAD float copysign(float x, float y) { return __builtin_copysignf(x, y); }
OVERLOAD double copysign(double x, double y) { return __builtin_copysign(x, y); }
OVERLOAD half copysign(half x, half y) { return __builtin_copysignf16(x, y); }
VECTORS2(copysign)

#define FUSED(name)                                                                                            \
  OVERLOAD float name(float x, float y, float z) { return __builtin_fmaf(x, y, z); }                           \
  OVERLOAD double name(double x, double y, double z) { return __builtin_fma(x, y, z); }                        \
  OVERLOAD half name(half x, half y, half z) { return __builtin_fmaf16(x, y, z); }                             \
  MAP3(float, name, float, float, float)                                                                       \
  MAP3(double, name, double, double, double)                                                                   \
  OVERLOAD half2 name(half2 x, half2 y, half2 z) { return __builtin_elementwise_fma(x, y, z); }\
  MAP3_OF_PAIRS(half, name, half, half, half)
FUSED(fma)
FUSED(mad)

// ---- Functions that call others

#define FDIM(T) \
  OVERLOAD T fdim(T x, T y) { return x > y ? x - y : isunordered(x, y) ? x + y : (T)0; }
FOR_FLOATS(FDIM)
VECTORS2(fdim)

#define MAGNITUDES(T)                \
  OVERLOAD T maxmag(T x, T y) {      \
    if (fabs(x) > fabs(y)) return x; \
    if (fabs(y) > fabs(x)) return y; \
    return fmax(x, y);               \
  }                                  \
  OVERLOAD T minmag(T x, T y) {      \
    if (fabs(x) < fabs(y)) return x; \
    if (fabs(y) < fabs(x)) return y; \
    return fmin(x, y);               \
  }
FOR_FLOATS(MAGNITUDES)
VECTORS2(maxmag)
VECTORS2(minmag)

OVERLOAD float nan(uint code) { return as_float(code & 0x007fffff | 0x7fc00000); }
OVERLOAD double nan(ulong code) { return as_double(code & 0x000fffffffffffff | 0x7ff8000000000000); }
OVERLOAD half nan(ushort code) { return as_half((ushort)(code & 0x03ff | 0x7e00)); }
MAP1(float, nan, uint)
MAP1(double, nan, ulong)
MAP1(half, nan, ushort)

#define OVER_PI(T, name, function) \
  OVERLOAD T name(T x) { return function(x) * (T)M_1_PI; }
#define OVER_PI1(name, function) \
  OVER_PI(float, name, function) OVER_PI(double, name, function) HALF1(half, name) VECTORS1(name)
OVER_PI1(acospi, acos)
OVER_PI1(asinpi, asin)
OVER_PI1(atanpi, atan)

OVERLOAD float atan2pi(float y, float x) { return atan2(y, x) * M_1_PI_F; }
OVERLOAD double atan2pi(double y, double x) { return atan2(y, x) * M_1_PI; }
HALF2(half, atan2pi)
VECTORS2(atan2pi)

OVERLOAD float tanpi(float x) { return sinpi(x) / cospi(x); }
OVERLOAD double tanpi(double x) { return sinpi(x) / cospi(x); }
HALF1(half, tanpi)
VECTORS1(tanpi)

// pown and powr are pow for integer exponents and for non-negative bases. Their special cases differ
// (§7.5.1).
OVERLOAD float pown(float x, int n) {
  // Not all integers beyond 2^24 are floats; rounding would lose whether they are even.
  if (abs(n) <= 1u << 24) return pow(x, (float)n);
  int low = n % 256;
  return pow(x, (float)(n - low)) * pow(x, (float)low);
}
OVERLOAD double pown(double x, int n) { return pow(x, (double)n); }
OVERLOAD half pown(half x, int n) { return (half)pown((float)x, n); }
MAP2(float, pown, float, int)
MAP2(double, pown, double, int)
MAP2(half, pown, half, int)

#define POWR(T)                                                    \
  OVERLOAD T powr(T x, T y) {                                      \
    if (x < 0) return (T)NAN;                                      \
    if (y == 0 && (x == 0 || isinf(x) || isnan(x))) return (T)NAN; \
    if (x == 1 && !isfinite(y)) return (T)NAN;                     \
    return pow(fabs(x), y);                                        \
  }
POWR(float)
POWR(double)
HALF2(half, powr)
VECTORS2(powr)

// |x| to the power 1/n. As float or double, 1/n is not exact; the second factor corrects the difference.
#define ROOTN(T)                                                   \
  OVERLOAD T rootn(T x, int n) {                                   \
    if (n == 0 || (x < 0 && (n & 1) == 0)) return (T)NAN;          \
    T magnitude = fabs(x);                                         \
    T exponent = 1 / (T)n;                                         \
    T root = pow(magnitude, exponent);                             \
    if (magnitude != 0 && isfinite(magnitude) && isfinite(root)) { \
      T difference = fma(-exponent, (T)n, (T)1) * exponent;        \
      root = fma(root, difference * log(magnitude), root);         \
    }                                                              \
    return n & 1 ? copysign(root, x) : root;                       \
  }
ROOTN(float)
ROOTN(double)
OVERLOAD half rootn(half x, int n) { return (half)rootn((float)x, n); }
MAP2(float, rootn, float, int)
MAP2(double, rootn, double, int)
MAP2(half, rootn, half, int)

// ---- Functions with a second result

// Defines the overloads for pointers to each address space by calling the one for generic pointers.
#define OUT1(T, name, P)                         \
  INLINE OVERLOAD T name(T x, __global P* out) { \
    P p;                                         \
    T r = name(x, &p);                           \
    *out = p;                                    \
    return r;                                    \
  }                                              \
  INLINE OVERLOAD T name(T x, __local P* out) {  \
    P p;                                         \
    T r = name(x, &p);                           \
    *out = p;                                    \
    return r;                                    \
  }                                              \
  FOR_SPACES(MAP1_OUT, T, name, P)
#define OUT2(T, name, P)                              \
  INLINE OVERLOAD T name(T x, T y, __global P* out) { \
    P p;                                              \
    T r = name(x, y, &p);                             \
    *out = p;                                         \
    return r;                                         \
  }                                                   \
  INLINE OVERLOAD T name(T x, T y, __local P* out) {  \
    P p;                                              \
    T r = name(x, y, &p);                             \
    *out = p;                                         \
    return r;                                         \
  }                                                   \
  FOR_SPACES(MAP2_OUT, T, name, P)

#define FRACT(T, below_one)                     \
  INLINE OVERLOAD T fract(T x, T* floor_of_x) { \
    *floor_of_x = floor(x);                     \
    if (x == 0 || isnan(x)) return x;           \
    if (isinf(x)) return copysign((T)0, x);     \
    return fmin(x - floor(x), (T)below_one);    \
  }                                             \
  OUT1(T, fract, T)
FRACT(float, 0x1.fffffep-1f)
FRACT(double, 0x1.fffffffffffffp-1)
FRACT(half, 0x1.ffcp-1f)

#define MODF(T)                                          \
  INLINE OVERLOAD T modf(T x, T* whole) {                \
    T truncated = trunc(x);                              \
    *whole = truncated;                                  \
    return copysign(isinf(x) ? (T)0 : x - truncated, x); \
  }                                                      \
  OUT1(T, modf, T)
FOR_FLOATS(MODF)

INLINE OVERLOAD half frexp(half x, int* exponent) { return (half)frexp((float)x, exponent); }
OUT1(float, frexp, int)
OUT1(double, frexp, int)
OUT1(half, frexp, int)

INLINE OVERLOAD half sincos(half x, half* cosine) {
  float c;
  float s = sincos((float)x, &c);
  *cosine = (half)c;
  return (half)s;
}
OUT1(float, sincos, float)
OUT1(double, sincos, double)
OUT1(half, sincos, half)

// The sign of the gamma function changes at every pole.
#define LGAMMA_R(T)                                                       \
  INLINE OVERLOAD T lgamma_r(T x, int* sign) {                            \
    T below = floor(x);                                                   \
    bool negative = x < 0 && below != x && below != 2 * floor(below / 2); \
    *sign = negative || (x == 0 && signbit(x)) ? -1 : 1;                  \
    return lgamma(x);                                                     \
  }                                                                       \
  OUT1(T, lgamma_r, int)
FOR_FLOATS(LGAMMA_R)

// Returns the low seven bits of the quotient. x is first reduced modulo 128 * y, so that the quotient is at
// most 128 and exact.
#define REMQUO(T, HUGE)                                                  \
  OVERLOAD T remquo(T x, T y, int* quotient) {                           \
    *quotient = 0;                                                       \
    if (!isfinite(x) || isnan(y) || y == 0) return (T)NAN;               \
    if (isinf(y)) return x;                                              \
    T divisor = fabs(y);                                                 \
    T rest = divisor < (T)HUGE ? fmod(fabs(x), 128 * divisor) : fabs(x); \
    T q = rint(rest / divisor);                                          \
    T r = fma(-q, divisor, rest);                                        \
    bool odd = (int)q & 1;                                               \
    /* 2 |r| against the divisor, without overflow. */                   \
    T over = fabs(r) - (divisor - fabs(r));                              \
    if (over > 0 || (over == 0 && odd)) {                                \
      T step = r > 0 ? (T)1 : (T)-1;                                     \
      q += step;                                                         \
      r = fma(-q, divisor, rest);                                        \
    }                                                                    \
    int bits = (int)q & 127;                                             \
    *quotient = signbit(x) != signbit(y) ? -bits : bits;                 \
    return r == 0 ? copysign((T)0, x) : signbit(x) ? -r : r;             \
  }
REMQUO(float, 0x1p120f)
REMQUO(double, 0x1p1016)
OVERLOAD half remquo(half x, half y, int* quotient) { return (half)remquo((float)x, (float)y, quotient); }
OUT2(float, remquo, int)
OUT2(double, remquo, int)
OUT2(half, remquo, int)
