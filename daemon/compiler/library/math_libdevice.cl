// The transcendental functions of scalar float and double (§6.15.2), implemented by NVIDIA's libdevice. On a
// node without libdevice, programs get libclc's functions of the same names instead.
#include "builtins.h"

#define LIBDEVICE1(name, nv)                               \
  float __nv_##nv##f(float) __attribute__((const));        \
  double __nv_##nv(double) __attribute__((const));         \
  OVERLOAD float name(float x) { return __nv_##nv##f(x); } \
  OVERLOAD double name(double x) { return __nv_##nv(x); }

#define LIBDEVICE2(name, nv)                                           \
  float __nv_##nv##f(float, float) __attribute__((const));             \
  double __nv_##nv(double, double) __attribute__((const));             \
  OVERLOAD float name(float x, float y) { return __nv_##nv##f(x, y); } \
  OVERLOAD double name(double x, double y) { return __nv_##nv(x, y); }

LIBDEVICE1(acos, acos)
LIBDEVICE1(acosh, acosh)
LIBDEVICE1(asin, asin)
LIBDEVICE1(asinh, asinh)
LIBDEVICE1(atan, atan)
LIBDEVICE1(atanh, atanh)
LIBDEVICE1(cbrt, cbrt)
LIBDEVICE1(cosh, cosh)
LIBDEVICE1(cospi, cospi)
LIBDEVICE1(erf, erf)
LIBDEVICE1(erfc, erfc)
LIBDEVICE1(exp, exp)
LIBDEVICE1(exp2, exp2)
LIBDEVICE1(exp10, exp10)
LIBDEVICE1(expm1, expm1)
LIBDEVICE1(lgamma, lgamma)
LIBDEVICE1(log, log)
LIBDEVICE1(log2, log2)
LIBDEVICE1(log10, log10)
LIBDEVICE1(log1p, log1p)
LIBDEVICE1(logb, logb)
LIBDEVICE1(rsqrt, rsqrt)
LIBDEVICE1(sinh, sinh)
LIBDEVICE1(sinpi, sinpi)
LIBDEVICE1(tan, tan)
LIBDEVICE1(tanh, tanh)
LIBDEVICE1(tgamma, tgamma)

LIBDEVICE2(fmod, fmod)
LIBDEVICE2(nextafter, nextafter)
LIBDEVICE2(pow, pow)
LIBDEVICE2(remainder, remainder)

float __nv_hypotf(float, float) __attribute__((const));
OVERLOAD float hypot(float x, float y) { return __nv_hypotf(x, y); }
// libdevice's function returns infinity if the result is the largest finite number.
OVERLOAD double hypot(double x, double y) {
  x = fabs(x), y = fabs(y);
  if (isinf(x) || isinf(y)) return INFINITY;
  if (isnan(x) || isnan(y)) return x + y;
  const double less = fmin(x, y), more = fmax(x, y);
  // Scaling by a power of 2 whose inverse exists makes the square a normal number.
  const ulong exponent = as_ulong(more) & 0x7FC0000000000000UL;
  const double down = as_double(exponent ^ 0x7FD0000000000000UL), up = as_double(exponent | 0x0010000000000000UL);
  const double a = more * down, b = less * down;
  return sqrt(fma(a, a, b * b)) * up;
}

double __nv_sin(double) __attribute__((const));
double __nv_cos(double) __attribute__((const));
OVERLOAD double sin(double x) { return __nv_sin(x); }
OVERLOAD double cos(double x) { return __nv_cos(x); }

double __nv_atan2(double, double) __attribute__((const));
OVERLOAD double atan2(double y, double x) { return __nv_atan2(y, x); }

int __nv_ilogbf(float) __attribute__((const));
int __nv_ilogb(double) __attribute__((const));
OVERLOAD int ilogb(float x) { return isnan(x) ? FP_ILOGBNAN : __nv_ilogbf(x); }
OVERLOAD int ilogb(double x) { return isnan(x) ? FP_ILOGBNAN : __nv_ilogb(x); }

float __nv_ldexpf(float, int) __attribute__((const));
double __nv_ldexp(double, int) __attribute__((const));
OVERLOAD float ldexp(float x, int exponent) { return __nv_ldexpf(x, exponent); }
OVERLOAD double ldexp(double x, int exponent) { return __nv_ldexp(x, exponent); }

float __nv_frexpf(float, int*);
double __nv_frexp(double, int*);
INLINE OVERLOAD float frexp(float x, int* exponent) { return __nv_frexpf(x, exponent); }
INLINE OVERLOAD double frexp(double x, int* exponent) { return __nv_frexp(x, exponent); }

void __nv_sincos(double, double*, double*);
INLINE OVERLOAD double sincos(double x, double* cosine) {
  double sine;
  __nv_sincos(x, &sine, cosine);
  return sine;
}
