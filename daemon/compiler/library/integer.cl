// Integer functions (§6.15.3) and cl_khr_extended_bit_ops.
#include "builtins.h"

// Functions for which Clang has operations on both scalars and vectors.
#define EACH_WIDTH(M, T, U) M(T, U) M(T##2, U##2) M(T##3, U##3) M(T##4, U##4) M(T##8, U##8) M(T##16, U##16)
#define FOR_ALL(M)              \
  EACH_WIDTH(M, char, uchar)    \
  EACH_WIDTH(M, uchar, uchar)   \
  EACH_WIDTH(M, short, ushort)  \
  EACH_WIDTH(M, ushort, ushort) \
  EACH_WIDTH(M, int, uint)      \
  EACH_WIDTH(M, uint, uint)     \
  EACH_WIDTH(M, long, ulong)    \
  EACH_WIDTH(M, ulong, ulong)

#define WHOLE_VECTORS(T, U)                                                       \
  OVERLOAD T max(T x, T y) { return __builtin_elementwise_max(x, y); }            \
  OVERLOAD T min(T x, T y) { return __builtin_elementwise_min(x, y); }            \
  OVERLOAD T clamp(T x, T low, T high) { return min(max(x, low), high); }         \
  OVERLOAD T hadd(T x, T y) { return (x & y) + ((x ^ y) >> (T)1); }               \
  OVERLOAD T rhadd(T x, T y) { return (x | y) - ((x ^ y) >> (T)1); }              \
  OVERLOAD U abs_diff(T x, T y) { return as_##U(max(x, y)) - as_##U(min(x, y)); } \
  OVERLOAD T mad_hi(T x, T y, T z) { return mul_hi(x, y) + z; }
FOR_ALL(WHOLE_VECTORS)

// Functions that compute in the type itself. Operators would promote scalars narrower than int to int.
#define IN_TYPE(T)                                                             \
  OVERLOAD T add_sat(T x, T y) { return __builtin_elementwise_add_sat(x, y); } \
  OVERLOAD T sub_sat(T x, T y) { return __builtin_elementwise_sub_sat(x, y); } \
  OVERLOAD T bit_reverse(T x) { return __builtin_elementwise_bitreverse(x); }
#define IN_NARROW_TYPE(T, U, bits)                                  \
  OVERLOAD T add_sat(T x, T y) { return convert_##T##_sat(x + y); } \
  OVERLOAD T sub_sat(T x, T y) { return convert_##T##_sat(x - y); } \
  OVERLOAD T bit_reverse(T x) { return (T)__builtin_bitreverse##bits((U)x); }
#define IN_VECTOR_TYPES(T) IN_TYPE(T##2) IN_TYPE(T##3) IN_TYPE(T##4) IN_TYPE(T##8) IN_TYPE(T##16)
FOR_INTEGERS(IN_VECTOR_TYPES)
IN_TYPE(int)
IN_TYPE(uint)
IN_TYPE(long)
IN_TYPE(ulong)
IN_NARROW_TYPE(char, uchar, 8)
IN_NARROW_TYPE(uchar, uchar, 8)
IN_NARROW_TYPE(short, ushort, 16)
IN_NARROW_TYPE(ushort, ushort, 16)

#define ABS_SIGNED(T, U) \
  OVERLOAD U abs(T x) { return as_##U((T)__builtin_elementwise_abs(x)); }
#define ABS_UNSIGNED(T, U) \
  OVERLOAD U abs(T x) { return x; }
EACH_WIDTH(ABS_SIGNED, char, uchar)
EACH_WIDTH(ABS_SIGNED, short, ushort)
EACH_WIDTH(ABS_SIGNED, int, uint)
EACH_WIDTH(ABS_SIGNED, long, ulong)
EACH_WIDTH(ABS_UNSIGNED, uchar, uchar)
EACH_WIDTH(ABS_UNSIGNED, ushort, ushort)
EACH_WIDTH(ABS_UNSIGNED, uint, uint)
EACH_WIDTH(ABS_UNSIGNED, ulong, ulong)

#define WITH_SCALARS(n, T)                                   \
  OVERLOAD T##n max(T##n x, T y) { return max(x, (T##n)y); } \
  OVERLOAD T##n min(T##n x, T y) { return min(x, (T##n)y); } \
  OVERLOAD T##n clamp(T##n x, T low, T high) { return clamp(x, (T##n)low, (T##n)high); }
#define ALL_WITH_SCALARS(T) FOR_VECTORS(WITH_SCALARS, T)
FOR_INTEGERS(ALL_WITH_SCALARS)

// Functions that work on each component separately.

#define COUNT(T, U, bits)                                                \
  OVERLOAD T clz(T x) { return (T)__builtin_clzg(as_##U(x), bits); }     \
  OVERLOAD T ctz(T x) { return (T)__builtin_ctzg(as_##U(x), bits); }     \
  OVERLOAD T popcount(T x) { return (T)__builtin_popcountg(as_##U(x)); } \
  MAP1(T, clz, T)                                                        \
  MAP1(T, ctz, T)                                                        \
  MAP1(T, popcount, T)
COUNT(char, uchar, 8)
COUNT(uchar, uchar, 8)
COUNT(short, ushort, 16)
COUNT(ushort, ushort, 16)
COUNT(int, uint, 32)
COUNT(uint, uint, 32)
COUNT(long, ulong, 64)
COUNT(ulong, ulong, 64)

#define ROTATE(T, U, bits)                                                                                 \
  OVERLOAD T rotate(T x, T count) { return as_##T(__builtin_rotateleft##bits(as_##U(x), as_##U(count))); } \
  MAP2(T, rotate, T, T)
ROTATE(char, uchar, 8)
ROTATE(uchar, uchar, 8)
ROTATE(short, ushort, 16)
ROTATE(ushort, ushort, 16)
ROTATE(int, uint, 32)
ROTATE(uint, uint, 32)
ROTATE(long, ulong, 64)
ROTATE(ulong, ulong, 64)

#define MUL_HI(T, WIDE, bits)                                              \
  OVERLOAD T mul_hi(T x, T y) { return (T)(((WIDE)x * (WIDE)y) >> bits); } \
  MAP2(T, mul_hi, T, T)
MUL_HI(char, int, 8)
MUL_HI(uchar, uint, 8)
MUL_HI(short, int, 16)
MUL_HI(ushort, uint, 16)
MUL_HI(int, long, 32)
MUL_HI(uint, ulong, 32)
MUL_HI(long, __int128, 64)
MUL_HI(ulong, unsigned __int128, 64)

#define MAD_SAT(T, WIDE, low, high)                                                                          \
  OVERLOAD T mad_sat(T x, T y, T z) { return (T)clamp((WIDE)x * (WIDE)y + (WIDE)z, (WIDE)low, (WIDE)high); } \
  MAP3(T, mad_sat, T, T, T)
MAD_SAT(char, int, CHAR_MIN, CHAR_MAX)
MAD_SAT(uchar, int, 0, UCHAR_MAX)
MAD_SAT(short, int, SHRT_MIN, SHRT_MAX)
MAD_SAT(ushort, long, 0, USHRT_MAX)
MAD_SAT(int, long, INT_MIN, INT_MAX)
MAD_SAT(uint, ulong, 0, UINT_MAX)

OVERLOAD long mad_sat(long x, long y, long z) {
  long high = mul_hi(x, y);
  ulong low = (ulong)x * (ulong)y;
  ulong sum = low + (ulong)z;
  high += (z >> 63) + (sum < low);
  if (high == (long)sum >> 63) return (long)sum;
  return high < 0 ? LONG_MIN : LONG_MAX;
}
OVERLOAD ulong mad_sat(ulong x, ulong y, ulong z) {
  ulong low = x * y;
  ulong sum = low + z;
  return mul_hi(x, y) != 0 || sum < low ? ULONG_MAX : sum;
}
MAP3(long, mad_sat, long, long, long)
MAP3(ulong, mad_sat, ulong, ulong, ulong)

#define UPSAMPLE(T, HIGH, LOW, bits)                                                     \
  OVERLOAD T upsample(HIGH high, LOW low) { return (T)((T)((T)high << bits) | (T)low); } \
  MAP2(T, upsample, HIGH, LOW)
UPSAMPLE(short, char, uchar, 8)
UPSAMPLE(ushort, uchar, uchar, 8)
UPSAMPLE(int, short, ushort, 16)
UPSAMPLE(uint, ushort, ushort, 16)
UPSAMPLE(long, int, uint, 32)
UPSAMPLE(ulong, uint, uint, 32)

// On current hardware, multiplying 24 bits is not faster than 32. For valid arguments the result is the same.
#define MUL24(T)                                        \
  OVERLOAD T mul24(T x, T y) { return x * y; }          \
  OVERLOAD T mad24(T x, T y, T z) { return x * y + z; } \
  MAP2(T, mul24, T, T)                                  \
  MAP3(T, mad24, T, T, T)
MUL24(int)
MUL24(uint)

// ---- cl_khr_extended_bit_ops

// A shift by the width of the type is undefined, hence the special case of zero bits.
#define BIT_FIELDS(T, S, U, bits)                                                             \
  OVERLOAD T bitfield_insert(T base, T insert, uint offset, uint count) {                     \
    if (count == 0) return base;                                                              \
    U mask = (U)((U)((U) ~(U)0 >> (U)(bits - count)) << (U)offset);                           \
    return as_##T((U)((as_##U(base) & ~mask) | ((as_##U(insert) << (U)offset) & mask)));      \
  }                                                                                           \
  OVERLOAD S bitfield_extract_signed(T base, uint offset, uint count) {                       \
    if (count == 0) return (S)0;                                                              \
    return (S)(as_##S((U)(as_##U(base) << (U)(bits - offset - count))) >> (S)(bits - count)); \
  }                                                                                           \
  OVERLOAD U bitfield_extract_unsigned(T base, uint offset, uint count) {                     \
    if (count == 0) return (U)0;                                                              \
    return (U)((U)(as_##U(base) << (U)(bits - offset - count)) >> (U)(bits - count));         \
  }
#define EACH_BIT_FIELD(T, S, U, bits) \
  BIT_FIELDS(T, S, U, bits)           \
  BIT_FIELDS(T##2, S##2, U##2, bits)  \
  BIT_FIELDS(T##3, S##3, U##3, bits)  \
  BIT_FIELDS(T##4, S##4, U##4, bits)  \
  BIT_FIELDS(T##8, S##8, U##8, bits)  \
  BIT_FIELDS(T##16, S##16, U##16, bits)
EACH_BIT_FIELD(char, char, uchar, 8)
EACH_BIT_FIELD(uchar, char, uchar, 8)
EACH_BIT_FIELD(short, short, ushort, 16)
EACH_BIT_FIELD(ushort, short, ushort, 16)
EACH_BIT_FIELD(int, int, uint, 32)
EACH_BIT_FIELD(uint, int, uint, 32)
EACH_BIT_FIELD(long, long, ulong, 64)
EACH_BIT_FIELD(ulong, long, ulong, 64)
