// Exchanging values within a warp, for sub-group and work-group functions.
#ifndef CLIQUE_DAEMON_COMPILER_LIBRARY_SUBGROUP_H
#define CLIQUE_DAEMON_COMPILER_LIBRARY_SUBGROUP_H

#include "builtins.h"

#define LANE ((uint)__nvvm_read_ptx_sreg_laneid())
#define EVERYONE (~0u)

// The `value` of lane number `lane` (of which the lower 5 bits count). All lanes in `lanes` have to call it.
#define VALUE_OF(T, to_int, from_int)                                          \
  INLINE OVERLOAD static T value_of(uint lanes, T value, uint lane) {          \
    return from_int(__nvvm_shfl_sync_idx_i32(lanes, to_int(value), lane, 31)); \
  }
#define HALF_OF_INT(x) as_half((short)(x))
VALUE_OF(char, (int), (char))
VALUE_OF(uchar, (int), (uchar))
VALUE_OF(short, (int), (short))
VALUE_OF(ushort, (int), (ushort))
VALUE_OF(int, (int), (int))
VALUE_OF(uint, (int), (uint))
VALUE_OF(half, as_short, HALF_OF_INT)
VALUE_OF(float, as_int, as_float)

#define VALUE_OF_HALVES(T)                                            \
  INLINE OVERLOAD static T value_of(uint lanes, T value, uint lane) { \
    int2 halves = as_int2(value);                                     \
    halves.x = value_of(lanes, halves.x, lane);                       \
    halves.y = value_of(lanes, halves.y, lane);                       \
    return as_##T(halves);                                            \
  }
VALUE_OF_HALVES(long)
VALUE_OF_HALVES(ulong)
VALUE_OF_HALVES(double)

// The operations of reductions, besides min and max, which are built-in functions.
#define ADD(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
#define AND(a, b) ((a) & (b))
#define OR(a, b) ((a) | (b))
#define XOR(a, b) ((a) ^ (b))
#define LOGICAL_AND(a, b) ((a) != 0 && (b) != 0)
#define LOGICAL_OR(a, b) ((a) != 0 || (b) != 0)
#define LOGICAL_XOR(a, b) (((a) != 0) != ((b) != 0))

// Expands `M` for each type, with its smallest and its largest value.
#define FOR_LIMITS(M)          \
  M(char, CHAR_MIN, CHAR_MAX)  \
  M(uchar, 0, UCHAR_MAX)       \
  M(short, SHRT_MIN, SHRT_MAX) \
  M(ushort, 0, USHRT_MAX)      \
  FOR_WIDE_LIMITS(M)
#define FOR_WIDE_LIMITS(M)      \
  M(int, INT_MIN, INT_MAX)      \
  M(uint, 0, UINT_MAX)          \
  M(long, LONG_MIN, LONG_MAX)   \
  M(ulong, 0, ULONG_MAX)        \
  M(half, -INFINITY, INFINITY)  \
  M(float, -INFINITY, INFINITY) \
  M(double, -INFINITY, INFINITY)

#endif
