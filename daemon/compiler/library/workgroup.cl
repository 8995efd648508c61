// Work-group collective functions (§6.15.18). Each sub-group computes a result; local memory combines them.
#include "subgroup.h"

// Local memory with 8 bytes for each sub-group of the largest work-group (scratch.ll).
__local void* __clique_scratch(void) __attribute__((const));

static bool is_last_of_sub_group(void) { return LANE == get_sub_group_size() - 1; }

// Returns an array with the value of each sub-group's last work-item. The caller has to execute a barrier
// before the memory is used again.
#define SHARE(T)                                                    \
  INLINE OVERLOAD static const __local T* share(T value) {          \
    __local T* totals = __clique_scratch();                         \
    if (is_last_of_sub_group()) totals[get_sub_group_id()] = value; \
    __nvvm_bar_sync(0);                                             \
    return totals;                                                  \
  }

#define COLLECTIVE(T, name, combine, neutral)                                                           \
  OVERLOAD T sub_group_reduce_##name(T value);                                                          \
  OVERLOAD T sub_group_scan_inclusive_##name(T value);                                                  \
  OVERLOAD T sub_group_scan_exclusive_##name(T value);                                                  \
  OVERLOAD T work_group_reduce_##name(T value) {                                                        \
    const __local T* totals = share(sub_group_reduce_##name(value));                                    \
    T result = totals[0];                                                                               \
    for (uint i = 1, count = get_num_sub_groups(); i < count; ++i) result = combine(result, totals[i]); \
    __nvvm_bar_sync(0);                                                                                 \
    return result;                                                                                      \
  }                                                                                                     \
  OVERLOAD T work_group_scan_inclusive_##name(T value) {                                                \
    T result = sub_group_scan_inclusive_##name(value);                                                  \
    const __local T* totals = share(result);                                                            \
    T before = (T)neutral;                                                                              \
    for (uint i = 0, count = get_sub_group_id(); i < count; ++i) before = combine(before, totals[i]);   \
    __nvvm_bar_sync(0);                                                                                 \
    return combine(before, result);                                                                     \
  }                                                                                                     \
  OVERLOAD T work_group_scan_exclusive_##name(T value) {                                                \
    T result = sub_group_scan_exclusive_##name(value);                                                  \
    T total = combine(result, value);                                                                   \
    const __local T* totals = share(total);                                                             \
    T before = (T)neutral;                                                                              \
    for (uint i = 0, count = get_sub_group_id(); i < count; ++i) before = combine(before, totals[i]);   \
    __nvvm_bar_sync(0);                                                                                 \
    return combine(before, result);                                                                     \
  }
#define COLLECTIVES(T, least, greatest) \
  SHARE(T)                              \
  COLLECTIVE(T, add, ADD, 0)            \
  COLLECTIVE(T, mul, MUL, 1)            \
  COLLECTIVE(T, min, min, greatest)     \
  COLLECTIVE(T, max, max, least)
FOR_WIDE_LIMITS(COLLECTIVES)

// SPIR-V has these, and multiplication, beyond OpenCL C (SPV_KHR_uniform_group_instructions). The names are the
// translator's.
#define BIT_COLLECTIVES(T)            \
  COLLECTIVE(T, bitwise_and, AND, ~0) \
  COLLECTIVE(T, bitwise_or, OR, 0)    \
  COLLECTIVE(T, bitwise_xor, XOR, 0)
BIT_COLLECTIVES(int)
BIT_COLLECTIVES(uint)
BIT_COLLECTIVES(long)
BIT_COLLECTIVES(ulong)
COLLECTIVE(int, logical_and, LOGICAL_AND, 1)
COLLECTIVE(int, logical_or, LOGICAL_OR, 0)
COLLECTIVE(int, logical_xor, LOGICAL_XOR, 0)

#define BROADCAST_FROM(T, parameters, is_source)         \
  OVERLOAD T work_group_broadcast(T value, parameters) { \
    __local T* memory = __clique_scratch();              \
    if (is_source) *memory = value;                      \
    __nvvm_bar_sync(0);                                  \
    T result = *memory;                                  \
    __nvvm_bar_sync(0);                                  \
    return result;                                       \
  }
#define COMMA ,
#define BROADCAST(T, least, greatest)                                                  \
  BROADCAST_FROM(T, size_t x, get_local_linear_id() == x)                              \
  BROADCAST_FROM(T, size_t x COMMA size_t y,                                           \
                 get_local_id(0) == x && get_local_id(1) == y && get_local_id(2) == 0) \
  BROADCAST_FROM(T, size_t x COMMA size_t y COMMA size_t z,                            \
                 get_local_id(0) == x && get_local_id(1) == y && get_local_id(2) == z)
FOR_WIDE_LIMITS(BROADCAST)

// The hardware's barrier also votes.
OVERLOAD int work_group_all(int predicate) { return __nvvm_bar0_and(predicate != 0); }
OVERLOAD int work_group_any(int predicate) { return __nvvm_bar0_or(predicate != 0); }
