// Relational functions (§6.15.6).
#include "builtins.h"

// A comparison that holds returns 1 for scalars, and all bits set for components of vectors. I is the integer
// type of the result.
#define COMPARISONS(T, I)                                          \
  OVERLOAD I isequal(T x, T y) { return x == y; }                  \
  OVERLOAD I isnotequal(T x, T y) { return x != y; }               \
  OVERLOAD I isgreater(T x, T y) { return x > y; }                 \
  OVERLOAD I isgreaterequal(T x, T y) { return x >= y; }           \
  OVERLOAD I isless(T x, T y) { return x < y; }                    \
  OVERLOAD I islessequal(T x, T y) { return x <= y; }              \
  OVERLOAD I islessgreater(T x, T y) { return (x < y) | (x > y); } \
  OVERLOAD I isordered(T x, T y) { return (x == x) & (y == y); }   \
  OVERLOAD I isunordered(T x, T y) { return (x != x) | (y != y); }

// B is the integer type of the same width. The functions test bits, so that they also work under
// -cl-finite-math-only.
#define CLASSES(T, I, B, sign, infinity, least)                                                          \
  OVERLOAD I isfinite(T x) { return (as_##B(x) & ~sign) < infinity; }                                    \
  OVERLOAD I isinf(T x) { return (as_##B(x) & ~sign) == infinity; }                                      \
  OVERLOAD I isnan(T x) { return (as_##B(x) & ~sign) > infinity; }                                       \
  OVERLOAD I isnormal(T x) { return ((as_##B(x) & ~sign) >= least) & ((as_##B(x) & ~sign) < infinity); } \
  OVERLOAD I signbit(T x) { return (as_##B(x) & sign) != (B)0; }

#define FLOAT(n, I)        \
  COMPARISONS(float##n, I) \
  CLASSES(float##n, I, uint##n, (uint##n)0x80000000, (uint##n)0x7f800000, (uint##n)0x00800000)
#define DOUBLE(n, I)                                                                          \
  COMPARISONS(double##n, I)                                                                   \
  CLASSES(double##n, I, ulong##n, (ulong##n)0x8000000000000000, (ulong##n)0x7ff0000000000000, \
          (ulong##n)0x0010000000000000)
#define HALF(n, I)        \
  COMPARISONS(half##n, I) \
  CLASSES(half##n, I, ushort##n, (ushort##n)0x8000, (ushort##n)0x7c00, (ushort##n)0x0400)
FLOAT(, int)
FLOAT(2, int2)
FLOAT(3, int3)
FLOAT(4, int4)
FLOAT(8, int8)
FLOAT(16, int16)
DOUBLE(, int)
DOUBLE(2, long2)
DOUBLE(3, long3)
DOUBLE(4, long4)
DOUBLE(8, long8)
DOUBLE(16, long16)
HALF(, int)
HALF(2, short2)
HALF(3, short3)
HALF(4, short4)
HALF(8, short8)
HALF(16, short16)

#define ANY_ALL(T)                                              \
  OVERLOAD int any(T x) { return x < 0; }                       \
  OVERLOAD int all(T x) { return x < 0; }                       \
  OVERLOAD int any(T##2 x) { return (x.s0 | x.s1) < 0; }        \
  OVERLOAD int all(T##2 x) { return (x.s0 & x.s1) < 0; }        \
  OVERLOAD int any(T##3 x) { return (x.s0 | x.s1 | x.s2) < 0; } \
  OVERLOAD int all(T##3 x) { return (x.s0 & x.s1 & x.s2) < 0; } \
  OVERLOAD int any(T##4 x) { return any(x.lo | x.hi); }         \
  OVERLOAD int all(T##4 x) { return all(x.lo & x.hi); }         \
  OVERLOAD int any(T##8 x) { return any(x.lo | x.hi); }         \
  OVERLOAD int all(T##8 x) { return all(x.lo & x.hi); }         \
  OVERLOAD int any(T##16 x) { return any(x.lo | x.hi); }        \
  OVERLOAD int all(T##16 x) { return all(x.lo & x.hi); }
ANY_ALL(char)
ANY_ALL(short)
ANY_ALL(int)
ANY_ALL(long)

// select() tests the whole number for scalars, and the highest bit of each component for vectors.
#define BITSELECT(T, B)                                                               \
  OVERLOAD T bitselect(T a, T b, T choice) {                                          \
    return as_##T((B)((as_##B(a) & ~as_##B(choice)) | (as_##B(b) & as_##B(choice)))); \
  }
#define SELECT(T, C) \
  OVERLOAD T select(T a, T b, C choice) { return choice ? b : a; }
#define EACH_SELECT(T, S, U)                                                                         \
  BITSELECT(T, U)                                                                                    \
  BITSELECT(T##2, U##2) BITSELECT(T##3, U##3) BITSELECT(T##4, U##4) BITSELECT(T##8, U##8)            \
      BITSELECT(T##16, U##16) SELECT(T, S) SELECT(T##2, S##2) SELECT(T##3, S##3) SELECT(T##4, S##4)  \
          SELECT(T##8, S##8) SELECT(T##16, S##16) SELECT(T, U) SELECT(T##2, U##2) SELECT(T##3, U##3) \
              SELECT(T##4, U##4) SELECT(T##8, U##8) SELECT(T##16, U##16)
EACH_SELECT(char, char, uchar)
EACH_SELECT(uchar, char, uchar)
EACH_SELECT(short, short, ushort)
EACH_SELECT(ushort, short, ushort)
EACH_SELECT(int, int, uint)
EACH_SELECT(uint, int, uint)
EACH_SELECT(long, long, ulong)
EACH_SELECT(ulong, long, ulong)
EACH_SELECT(half, short, ushort)
EACH_SELECT(float, int, uint)
EACH_SELECT(double, long, ulong)
