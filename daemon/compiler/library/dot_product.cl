// Integer dot products (cl_khr_integer_dot_product), each one instruction.
#include "builtins.h"

#define DP4A(name, R, A, B, types)                                                       \
  static R name(uint a, uint b, R sum) {                                                 \
    R result;                                                                            \
    __asm__("dp4a." types " %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(sum)); \
    return result;                                                                       \
  }                                                                                      \
  OVERLOAD R dot(A a, B b) { return name(as_uint(a), as_uint(b), 0); }                   \
  OVERLOAD R dot_acc_sat(A a, B b, R sum) { return add_sat(dot(a, b), sum); }
DP4A(dot_uu, uint, uchar4, uchar4, "u32.u32")
DP4A(dot_ss, int, char4, char4, "s32.s32")
DP4A(dot_us, int, uchar4, char4, "u32.s32")
DP4A(dot_su, int, char4, uchar4, "s32.u32")

#define PACKED(name, suffix, R)                                               \
  OVERLOAD R dot_4x8packed_##suffix(uint a, uint b) { return name(a, b, 0); } \
  OVERLOAD R dot_acc_sat_4x8packed_##suffix(uint a, uint b, R sum) { return add_sat(name(a, b, 0), sum); }
PACKED(dot_uu, uu_uint, uint)
PACKED(dot_ss, ss_int, int)
PACKED(dot_us, us_int, int)
PACKED(dot_su, su_int, int)
