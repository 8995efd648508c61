// Declarations and macros that all files of the device library share. Each file defines one section of the
// built-in functions of the OpenCL C specification (§6.15), in OpenCL C 3.0 with every optional feature, for
// every type and vector width. Functions that programs in older versions call have the same mangled names.
//
// Address spaces: `generic` also stands for `private`, because both are address space 0 and give the same
// mangled names. `global` also stands for `constant`, because the compiler passes __constant arguments as
// ordinary memory.
#ifndef CLIQUE_DAEMON_COMPILER_LIBRARY_BUILTINS_H
#define CLIQUE_DAEMON_COMPILER_LIBRARY_BUILTINS_H

// Clang's declarations. Its table of built-in functions cannot be used: the first overload that is defined
// would hide the others.
#include <opencl-c.h>

#include "abi.h"

#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define OVERLOAD __attribute__((overloadable))
#define INLINE __attribute__((always_inline))

// Expands `M` for each type.
#define FOR_FLOATS(M) M(float) M(double) M(half)
#define FOR_INTEGERS(M) M(char) M(uchar) M(short) M(ushort) M(int) M(uint) M(long) M(ulong)
#define FOR_TYPES(M) FOR_INTEGERS(M) FOR_FLOATS(M)

// Expands `M` with further arguments for each vector width.
#define FOR_VECTORS(M, ...) \
  M(2, __VA_ARGS__) M(3, __VA_ARGS__) M(4, __VA_ARGS__) M(8, __VA_ARGS__) M(16, __VA_ARGS__)

// Expands `M` with further arguments for each address space that has overloads of its own.
#define GENERIC
#define FOR_SPACES(M, ...) M(GENERIC, __VA_ARGS__) M(__global, __VA_ARGS__) M(__local, __VA_ARGS__)

// Defines the vector overloads of a function with one, two or three arguments that works on each component
// separately, by calling its scalar overload. R, A, B and C are the scalar types of result and arguments.
#define MAP1(R, name, A)                                                            \
  OVERLOAD R##2 name(A##2 a) { return (R##2)(name(a.s0), name(a.s1)); }             \
  OVERLOAD R##3 name(A##3 a) { return (R##3)(name(a.s0), name(a.s1), name(a.s2)); } \
  OVERLOAD R##4 name(A##4 a) { return (R##4)(name(a.lo), name(a.hi)); }             \
  OVERLOAD R##8 name(A##8 a) { return (R##8)(name(a.lo), name(a.hi)); }             \
  OVERLOAD R##16 name(A##16 a) { return (R##16)(name(a.lo), name(a.hi)); }

#define MAP2(R, name, A, B)                                                                 \
  OVERLOAD R##2 name(A##2 a, B##2 b) { return (R##2)(name(a.s0, b.s0), name(a.s1, b.s1)); } \
  MAP2_OF_PAIRS(R, name, A, B)

#define MAP3(R, name, A, B, C)                                     \
  OVERLOAD R##2 name(A##2 a, B##2 b, C##2 c) {                     \
    return (R##2)(name(a.s0, b.s0, c.s0), name(a.s1, b.s1, c.s1)); \
  }                                                                \
  MAP3_OF_PAIRS(R, name, A, B, C)

// The same for more than two components, by calling the overloads for one and two.
#define MAP2_OF_PAIRS(R, name, A, B)                                                          \
  OVERLOAD R##3 name(A##3 a, B##3 b) { return (R##3)(name(a.lo, b.lo), name(a.s2, b.s2)); }   \
  OVERLOAD R##4 name(A##4 a, B##4 b) { return (R##4)(name(a.lo, b.lo), name(a.hi, b.hi)); }   \
  OVERLOAD R##8 name(A##8 a, B##8 b) { return (R##8)(name(a.lo, b.lo), name(a.hi, b.hi)); }   \
  OVERLOAD R##16 name(A##16 a, B##16 b) { return (R##16)(name(a.lo, b.lo), name(a.hi, b.hi)); }

#define MAP3_OF_PAIRS(R, name, A, B, C)                            \
  OVERLOAD R##3 name(A##3 a, B##3 b, C##3 c) {                     \
    return (R##3)(name(a.lo, b.lo, c.lo), name(a.s2, b.s2, c.s2)); \
  }                                                                \
  OVERLOAD R##4 name(A##4 a, B##4 b, C##4 c) {                     \
    return (R##4)(name(a.lo, b.lo, c.lo), name(a.hi, b.hi, c.hi)); \
  }                                                                \
  OVERLOAD R##8 name(A##8 a, B##8 b, C##8 c) {                     \
    return (R##8)(name(a.lo, b.lo, c.lo), name(a.hi, b.hi, c.hi)); \
  }                                                                \
  OVERLOAD R##16 name(A##16 a, B##16 b, C##16 c) {                 \
    return (R##16)(name(a.lo, b.lo, c.lo), name(a.hi, b.hi, c.hi)); \
  }

// Defines the overloads with a vector and a scalar, which applies to all components.
#define SPREAD2_OF(n, T, name, B) \
  OVERLOAD T##n name(T##n a, B b) { return name(a, (B##n)(b)); }
#define SPREAD2(T, name, B) FOR_VECTORS(SPREAD2_OF, T, name, B)

// Like MAP1 and MAP2, for functions that return a second result of type P through a pointer.
#define MAP1_OUT(SPACE, T, name, P)                                       \
  INLINE OVERLOAD T##2 name(T##2 a, SPACE P##2 * out) {                   \
    P x, y;                                                               \
    T##2 result = (T##2)(name(a.s0, &x), name(a.s1, &y));                 \
    *out = (P##2)(x, y);                                                  \
    return result;                                                        \
  }                                                                       \
  INLINE OVERLOAD T##3 name(T##3 a, SPACE P##3 * out) {                   \
    P x, y, z;                                                            \
    T##3 result = (T##3)(name(a.s0, &x), name(a.s1, &y), name(a.s2, &z)); \
    *out = (P##3)(x, y, z);                                               \
    return result;                                                        \
  }                                                                       \
  MAP1_OUT_HALVES(SPACE, T, name, P, 4, 2)                                \
  MAP1_OUT_HALVES(SPACE, T, name, P, 8, 4)                                \
  MAP1_OUT_HALVES(SPACE, T, name, P, 16, 8)
#define MAP1_OUT_HALVES(SPACE, T, name, P, n, m)            \
  INLINE OVERLOAD T##n name(T##n a, SPACE P##n* out) {      \
    P##m lo, hi;                                            \
    T##n result = (T##n)(name(a.lo, &lo), name(a.hi, &hi)); \
    *out = (P##n)(lo, hi);                                  \
    return result;                                          \
  }

#define MAP2_OUT(SPACE, T, name, P)                                                         \
  INLINE OVERLOAD T##2 name(T##2 a, T##2 b, SPACE P##2 * out) {                             \
    P x, y;                                                                                 \
    T##2 result = (T##2)(name(a.s0, b.s0, &x), name(a.s1, b.s1, &y));                       \
    *out = (P##2)(x, y);                                                                    \
    return result;                                                                          \
  }                                                                                         \
  INLINE OVERLOAD T##3 name(T##3 a, T##3 b, SPACE P##3 * out) {                             \
    P x, y, z;                                                                              \
    T##3 result = (T##3)(name(a.s0, b.s0, &x), name(a.s1, b.s1, &y), name(a.s2, b.s2, &z)); \
    *out = (P##3)(x, y, z);                                                                 \
    return result;                                                                          \
  }                                                                                         \
  MAP2_OUT_HALVES(SPACE, T, name, P, 4, 2)                                                  \
  MAP2_OUT_HALVES(SPACE, T, name, P, 8, 4)                                                  \
  MAP2_OUT_HALVES(SPACE, T, name, P, 16, 8)
#define MAP2_OUT_HALVES(SPACE, T, name, P, n, m)                        \
  INLINE OVERLOAD T##n name(T##n a, T##n b, SPACE P##n* out) {          \
    P##m lo, hi;                                                        \
    T##n result = (T##n)(name(a.lo, b.lo, &lo), name(a.hi, b.hi, &hi)); \
    *out = (P##n)(lo, hi);                                              \
    return result;                                                      \
  }

#endif
