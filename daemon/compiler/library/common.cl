// Common functions (§6.15.4).
#include "builtins.h"

#define COMMON(T)                                                           \
  OVERLOAD T clamp(T x, T low, T high) { return fmin(fmax(x, low), high); } \
  OVERLOAD T degrees(T x) { return x * (T)57.29577951308232087680; }        \
  OVERLOAD T radians(T x) { return x * (T)0.01745329251994329577; }         \
  OVERLOAD T max(T x, T y) { return fmax(x, y); }                           \
  OVERLOAD T min(T x, T y) { return fmin(x, y); }                           \
  OVERLOAD T mix(T x, T y, T a) { return mad(y - x, a, x); }
#define EACH_WIDTH(T) COMMON(T) COMMON(T##2) COMMON(T##3) COMMON(T##4) COMMON(T##8) COMMON(T##16)
FOR_FLOATS(EACH_WIDTH)

#define STEP(T)                                                                     \
  OVERLOAD T step(T edge, T x) { return x < edge ? (T)0 : (T)1; }                   \
  OVERLOAD T smoothstep(T low, T high, T x) {                                       \
    T t = clamp((x - low) / (high - low), (T)0, (T)1);                              \
    return t * t * ((T)3 - (T)2 * t);                                               \
  }                                                                                 \
  OVERLOAD T sign(T x) { return isnan(x) ? (T)0 : x == 0 ? x : copysign((T)1, x); } \
  MAP2(T, step, T, T)                                                               \
  MAP3(T, smoothstep, T, T, T)                                                      \
  MAP1(T, sign, T)
FOR_FLOATS(STEP)

#define WITH_SCALARS(n, T)                                                               \
  OVERLOAD T##n clamp(T##n x, T low, T high) { return clamp(x, (T##n)low, (T##n)high); } \
  OVERLOAD T##n max(T##n x, T y) { return max(x, (T##n)y); }                             \
  OVERLOAD T##n min(T##n x, T y) { return min(x, (T##n)y); }                             \
  OVERLOAD T##n mix(T##n x, T##n y, T a) { return mix(x, y, (T##n)a); }                  \
  OVERLOAD T##n step(T edge, T##n x) { return step((T##n)edge, x); }                     \
  OVERLOAD T##n smoothstep(T low, T high, T##n x) { return smoothstep((T##n)low, (T##n)high, x); }
#define ALL_WITH_SCALARS(T) FOR_VECTORS(WITH_SCALARS, T)
FOR_FLOATS(ALL_WITH_SCALARS)
