// Geometric functions (§6.15.5).
#include "builtins.h"

#define DOT(T)                                                                       \
  OVERLOAD T dot(T a, T b) { return a * b; }                                         \
  OVERLOAD T dot(T##2 a, T##2 b) { return mad(a.y, b.y, a.x * b.x); }                \
  OVERLOAD T dot(T##3 a, T##3 b) { return mad(a.z, b.z, mad(a.y, b.y, a.x * b.x)); } \
  OVERLOAD T dot(T##4 a, T##4 b) { return mad(a.w, b.w, mad(a.z, b.z, mad(a.y, b.y, a.x * b.x))); }
FOR_FLOATS(DOT)

#define CROSS(T)                                                                        \
  OVERLOAD T##3 cross(T##3 a, T##3 b) {                                                 \
    return (T##3)(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x); \
  }                                                                                     \
  OVERLOAD T##4 cross(T##4 a, T##4 b) { return (T##4)(cross(a.xyz, b.xyz), (T)0); }
FOR_FLOATS(CROSS)

OVERLOAD float length(float a) { return fabs(a); }
OVERLOAD double length(double a) { return fabs(a); }
OVERLOAD half length(half a) { return fabs(a); }
OVERLOAD float distance(float a, float b) { return fabs(a - b); }
OVERLOAD double distance(double a, double b) { return fabs(a - b); }
OVERLOAD half distance(half a, half b) { return fabs(a - b); }
OVERLOAD float normalize(float a) { return sign(a); }
OVERLOAD double normalize(double a) { return sign(a); }
OVERLOAD half normalize(half a) { return sign(a); }

// The sum of squares may overflow or lose precision although the length would not. In that case the vector is
// scaled by a power of 2.
#define LENGTH(V, T, small, large, up, down)                    \
  OVERLOAD T length(V a) {                                      \
    T sum = dot(a, a);                                          \
    if (sum < small) return sqrt(dot(a * up, a * up)) * down;   \
    if (sum > large) return sqrt(dot(a * down, a * down)) * up; \
    return sqrt(sum);                                           \
  }                                                             \
  OVERLOAD T distance(V a, V b) { return length(a - b); }       \
  OVERLOAD V normalize(V a) {                                   \
    T sum = dot(a, a);                                          \
    if (sum < small) {                                          \
      a *= up;                                                  \
      sum = dot(a, a);                                          \
      if (sum == 0) return a;                                   \
    } else if (sum > large) {                                   \
      /* Scaled at the end only, what is small is not lost. */  \
      return a * rsqrt(dot(a * down, a * down)) * down;         \
    }                                                           \
    return a * rsqrt(sum);                                      \
  }
#define LENGTH_FLOAT(V) LENGTH(V, float, 0x1p-96f, 0x1p126f, 0x1p90f, 0x1p-90f)
#define LENGTH_DOUBLE(V) LENGTH(V, double, 0x1p-800, 0x1p1000, 0x1p600, 0x1p-600)
LENGTH_FLOAT(float2)
LENGTH_FLOAT(float3)
LENGTH_FLOAT(float4)
LENGTH_DOUBLE(double2)
LENGTH_DOUBLE(double3)
LENGTH_DOUBLE(double4)

#define LENGTH_HALF(n)                                               \
  OVERLOAD half length(half##n a) {                                  \
    float##n wide = convert_float##n(a);                             \
    return (half)sqrt(dot(wide, wide));                              \
  }                                                                  \
  OVERLOAD half distance(half##n a, half##n b) {                     \
    float##n difference = convert_float##n(a) - convert_float##n(b); \
    return (half)sqrt(dot(difference, difference));                  \
  }                                                                  \
  OVERLOAD half##n normalize(half##n a) { return convert_half##n(normalize(convert_float##n(a))); }
LENGTH_HALF(2)
LENGTH_HALF(3)
LENGTH_HALF(4)

// The specification allows the sum of squares to overflow here.
OVERLOAD float fast_length(float a) { return fabs(a); }
OVERLOAD float fast_distance(float a, float b) { return fabs(a - b); }
OVERLOAD float fast_normalize(float a) { return sign(a); }
#define FAST(V)                                                         \
  OVERLOAD float fast_length(V a) { return half_sqrt(dot(a, a)); }      \
  OVERLOAD float fast_distance(V a, V b) { return fast_length(a - b); } \
  OVERLOAD V fast_normalize(V a) {                                      \
    float sum = dot(a, a);                                              \
    return sum < FLT_MIN ? a : a * half_rsqrt(sum);                     \
  }
FAST(float2)
FAST(float3)
FAST(float4)

// These replace length, distance and normalize under -cl-fast-relaxed-math; programs cannot call them by
// name.
#define RELAXED(V)                                                         \
  OVERLOAD float native_length(V a) { return fast_length(a); }             \
  OVERLOAD float native_distance(V a, V b) { return fast_distance(a, b); } \
  OVERLOAD V native_normalize(V a) { return fast_normalize(a); }
RELAXED(float)
RELAXED(float2)
RELAXED(float3)
RELAXED(float4)
