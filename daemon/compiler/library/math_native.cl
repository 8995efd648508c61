// native_ and half_ functions (§6.15.2), which use the hardware's approximations if these are accurate
// enough. Both may treat denormal numbers as zero. native_pow and native_sincos replace pow and sincos under
// -cl-fast-relaxed-math; programs cannot call them by name.
#include "builtins.h"

#define FLOAT1(name, expression)                      \
  OVERLOAD float name(float x) { return expression; } \
  MAP1(float, name, float)
#define FLOAT2(name, expression)                               \
  OVERLOAD float name(float x, float y) { return expression; } \
  MAP2(float, name, float, float)

static float reciprocal(float x) {
  float result;
  __asm__("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

// Unlike div.approx, div.full is accurate for all divisors.
static float quotient(float x, float y) {
  float result;
  __asm__("div.full.ftz.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(y));
  return result;
}

#define EXP2(x) __nvvm_ex2_approx_ftz_f(x)
#define LOG2(x) __nvvm_lg2_approx_ftz_f(x)
#define LOG2_10_F 3.32192809488736234787f
#define LOG10_2_F 0.30102999566398119521f

FLOAT1(native_sin, __nvvm_sin_approx_ftz_f(x))
FLOAT1(native_cos, __nvvm_cos_approx_ftz_f(x))
FLOAT1(native_tan, __nvvm_sin_approx_ftz_f(x) * reciprocal(__nvvm_cos_approx_ftz_f(x)))
FLOAT1(native_exp, EXP2(x* M_LOG2E_F))
FLOAT1(native_exp2, EXP2(x))
FLOAT1(native_exp10, EXP2(x* LOG2_10_F))
FLOAT1(native_log, LOG2(x) * M_LN2_F)
FLOAT1(native_log2, LOG2(x))
FLOAT1(native_log10, LOG2(x) * LOG10_2_F)
FLOAT1(native_recip, reciprocal(x))
FLOAT1(native_rsqrt, __nvvm_rsqrt_approx_ftz_f(x))
FLOAT1(native_sqrt, __nvvm_sqrt_approx_ftz_f(x))
FLOAT2(native_divide, __nvvm_div_approx_ftz_f(x, y))
FLOAT2(native_powr, EXP2(y* LOG2(x)))

// Powers of negative numbers exist for integer exponents.
static float native_power(float x, float y) {
  float magnitude = EXP2(y * LOG2(fabs(x)));
  if (!(x < 0)) return magnitude;
  if (rint(y) != y) return NAN;
  return rint(0.5f * y) != 0.5f * y ? -magnitude : magnitude;
}
FLOAT2(native_pow, native_power(x, y))

#define NATIVE_SINCOS(SPACE, unused)                                  \
  INLINE OVERLOAD float native_sincos(float x, SPACE float* cosine) { \
    *cosine = native_cos(x);                                          \
    return native_sin(x);                                             \
  }                                                                   \
  FOR_VECTORS(NATIVE_SINCOS_OF, SPACE)
#define NATIVE_SINCOS_OF(n, SPACE)                                             \
  INLINE OVERLOAD float##n native_sincos(float##n x, SPACE float##n* cosine) { \
    *cosine = native_cos(x);                                                   \
    return native_sin(x);                                                      \
  }
FOR_SPACES(NATIVE_SINCOS, )

// half_ functions may have errors of 8192 ulp for every argument. Some approximations have larger ones if the
// result is close to 0, and so has a power computed from a logarithm in float precision.
FLOAT1(half_sin, sin(x))
FLOAT1(half_cos, cos(x))
FLOAT1(half_tan, tan(x))
FLOAT1(half_exp, EXP2(x* M_LOG2E_F))
FLOAT1(half_exp2, EXP2(x))
FLOAT1(half_exp10, EXP2(x* LOG2_10_F))
FLOAT1(half_log, log(x))
FLOAT1(half_log2, log2(x))
FLOAT1(half_log10, log10(x))
FLOAT1(half_recip, reciprocal(x))
FLOAT1(half_rsqrt, __nvvm_rsqrt_approx_ftz_f(x))
FLOAT1(half_sqrt, __nvvm_sqrt_approx_ftz_f(x))
FLOAT2(half_divide, quotient(x, y))
FLOAT2(half_powr, powr(x, y))
