// Atomic functions (§6.15.12), those of OpenCL C 1.x, and cl_ext_float_atomics.
//
// Each operation is a relaxed one with device scope, surrounded by the fences that its memory order requires.
// The hardware does the same. Only fences depend on the scope; every access is atomic for the whole device.
//
// The functions take pointers to volatile objects and cast the qualifier away: atomic accesses do not need
// it, and it would keep LLVM from inferring the address space of generic pointers.
#include "builtins.h"

#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

#define RELAXED memory_order_relaxed, memory_scope_device

INLINE static void fence_before(memory_order order, memory_scope scope) {
  if (order == memory_order_release || order == memory_order_acq_rel)
    atomic_work_item_fence(0, memory_order_release, scope);
  else if (order == memory_order_seq_cst)
    atomic_work_item_fence(0, memory_order_seq_cst, scope);
}

INLINE static void fence_after(memory_order order, memory_scope scope) {
  if (order == memory_order_acquire || order == memory_order_acq_rel || order == memory_order_seq_cst)
    atomic_work_item_fence(0, memory_order_acquire, scope);
}

// ---- The overloads of a function. Without order and scope, the strictest order and device scope apply.

// A: the atomic type; T: the type of its value; V: the type of the operand; operation(object, value): the
// relaxed operation.
#define MODIFY(SPACE, A, T, V, name, operation)                                              \
  INLINE OVERLOAD T name##_explicit(volatile SPACE A* object, V value, memory_order order,   \
                                    memory_scope scope) {                                    \
    fence_before(order, scope);                                                              \
    T old = operation((SPACE A*)object, (T)value);                                           \
    fence_after(order, scope);                                                               \
    return old;                                                                              \
  }                                                                                          \
  INLINE OVERLOAD T name##_explicit(volatile SPACE A* object, V value, memory_order order) { \
    return name##_explicit(object, value, order, memory_scope_device);                       \
  }                                                                                          \
  INLINE OVERLOAD T name(volatile SPACE A* object, V value) {                                \
    return name##_explicit(object, value, memory_order_seq_cst, memory_scope_device);        \
  }

#define LOAD_STORE(SPACE, A, T)                                                                              \
  INLINE OVERLOAD void atomic_init(volatile SPACE A* object, T value) {                                      \
    __opencl_atomic_store((SPACE A*)object, value, RELAXED);                                                 \
  }                                                                                                          \
  INLINE OVERLOAD void atomic_store_explicit(volatile SPACE A* object, T value, memory_order order,          \
                                             memory_scope scope) {                                           \
    fence_before(order, scope);                                                                              \
    __opencl_atomic_store((SPACE A*)object, value, RELAXED);                                                 \
  }                                                                                                          \
  INLINE OVERLOAD void atomic_store_explicit(volatile SPACE A* object, T value, memory_order order) {        \
    atomic_store_explicit(object, value, order, memory_scope_device);                                        \
  }                                                                                                          \
  INLINE OVERLOAD void atomic_store(volatile SPACE A* object, T value) {                                     \
    atomic_store_explicit(object, value, memory_order_seq_cst, memory_scope_device);                         \
  }                                                                                                          \
  INLINE OVERLOAD T atomic_load_explicit(volatile SPACE A* object, memory_order order, memory_scope scope) { \
    if (order == memory_order_seq_cst) fence_before(order, scope);                                           \
    T value = __opencl_atomic_load((SPACE A*)object, RELAXED);                                               \
    fence_after(order, scope);                                                                               \
    return value;                                                                                            \
  }                                                                                                          \
  INLINE OVERLOAD T atomic_load_explicit(volatile SPACE A* object, memory_order order) {                     \
    return atomic_load_explicit(object, order, memory_scope_device);                                         \
  }                                                                                                          \
  INLINE OVERLOAD T atomic_load(volatile SPACE A* object) {                                                  \
    return atomic_load_explicit(object, memory_order_seq_cst, memory_scope_device);                          \
  }

// The weak compare-and-exchange is the strong one.
#define COMPARE_EXCHANGE(SPACE, A, T, EXPECTED, name)                                                        \
  INLINE OVERLOAD bool name##_explicit(volatile SPACE A* object, EXPECTED T* expected, T desired,            \
                                       memory_order success, memory_order failure, memory_scope scope) {     \
    fence_before(success, scope);                                                                            \
    T value = *expected;                                                                                     \
    bool exchanged = __opencl_atomic_compare_exchange_strong(                                                \
        (SPACE A*)object, &value, desired, memory_order_relaxed, memory_order_relaxed, memory_scope_device); \
    if (!exchanged) *expected = value;                                                                       \
    fence_after(success, scope);                                                                             \
    return exchanged;                                                                                        \
  }                                                                                                          \
  INLINE OVERLOAD bool name##_explicit(volatile SPACE A* object, EXPECTED T* expected, T desired,            \
                                       memory_order success, memory_order failure) {                         \
    return name##_explicit(object, expected, desired, success, failure, memory_scope_device);                \
  }                                                                                                          \
  INLINE OVERLOAD bool name(volatile SPACE A* object, EXPECTED T* expected, T desired) {                     \
    return name##_explicit(object, expected, desired, memory_order_seq_cst, memory_order_seq_cst,            \
                           memory_scope_device);                                                             \
  }
#define COMPARE_EXCHANGES_OF(EXPECTED, SPACE, A, T)                       \
  COMPARE_EXCHANGE(SPACE, A, T, EXPECTED, atomic_compare_exchange_strong) \
  COMPARE_EXCHANGE(SPACE, A, T, EXPECTED, atomic_compare_exchange_weak)
#define COMPARE_EXCHANGES(SPACE, A, T)        \
  COMPARE_EXCHANGES_OF(GENERIC, SPACE, A, T)  \
  COMPARE_EXCHANGES_OF(__global, SPACE, A, T) \
  COMPARE_EXCHANGES_OF(__local, SPACE, A, T)

// ---- Atomic integers

#define EXCHANGE(object, value) __opencl_atomic_exchange(object, value, RELAXED)
#define FETCH_ADD(object, value) __opencl_atomic_fetch_add(object, value, RELAXED)
#define FETCH_SUB(object, value) __opencl_atomic_fetch_sub(object, value, RELAXED)
#define FETCH_AND(object, value) __opencl_atomic_fetch_and(object, value, RELAXED)
#define FETCH_OR(object, value) __opencl_atomic_fetch_or(object, value, RELAXED)
#define FETCH_XOR(object, value) __opencl_atomic_fetch_xor(object, value, RELAXED)
#define FETCH_MIN(object, value) __opencl_atomic_fetch_min(object, value, RELAXED)
#define FETCH_MAX(object, value) __opencl_atomic_fetch_max(object, value, RELAXED)

#define FETCH_INTEGER(SPACE, A, T, V)                 \
  MODIFY(SPACE, A, T, V, atomic_fetch_add, FETCH_ADD) \
  MODIFY(SPACE, A, T, V, atomic_fetch_sub, FETCH_SUB) \
  MODIFY(SPACE, A, T, V, atomic_fetch_and, FETCH_AND) \
  MODIFY(SPACE, A, T, V, atomic_fetch_or, FETCH_OR)   \
  MODIFY(SPACE, A, T, V, atomic_fetch_xor, FETCH_XOR) \
  MODIFY(SPACE, A, T, V, atomic_fetch_min, FETCH_MIN) \
  MODIFY(SPACE, A, T, V, atomic_fetch_max, FETCH_MAX)
#define ATOMIC_INTEGER(SPACE, A, T)                 \
  LOAD_STORE(SPACE, A, T)                           \
  COMPARE_EXCHANGES(SPACE, A, T)                    \
  MODIFY(SPACE, A, T, T, atomic_exchange, EXCHANGE) \
  FETCH_INTEGER(SPACE, A, T, T)
FOR_SPACES(ATOMIC_INTEGER, atomic_int, int)
FOR_SPACES(ATOMIC_INTEGER, atomic_uint, uint)
FOR_SPACES(ATOMIC_INTEGER, atomic_long, long)
FOR_SPACES(ATOMIC_INTEGER, atomic_ulong, ulong)

// For atomic_uintptr_t the operand is a difference of pointers, for atomic_intptr_t the bits of a pointer.
FOR_SPACES(FETCH_INTEGER, atomic_ulong, ulong, long)
FOR_SPACES(FETCH_INTEGER, atomic_long, long, ulong)

#define ATOMIC_FLAG(SPACE, unused)                                                                        \
  INLINE OVERLOAD bool atomic_flag_test_and_set_explicit(volatile SPACE atomic_flag* flag,                \
                                                         memory_order order, memory_scope scope) {        \
    return atomic_exchange_explicit((volatile SPACE atomic_int*)flag, 1, order, scope) != 0;              \
  }                                                                                                       \
  INLINE OVERLOAD bool atomic_flag_test_and_set_explicit(volatile SPACE atomic_flag* flag,                \
                                                         memory_order order) {                            \
    return atomic_flag_test_and_set_explicit(flag, order, memory_scope_device);                           \
  }                                                                                                       \
  INLINE OVERLOAD bool atomic_flag_test_and_set(volatile SPACE atomic_flag* flag) {                       \
    return atomic_flag_test_and_set_explicit(flag, memory_order_seq_cst, memory_scope_device);            \
  }                                                                                                       \
  INLINE OVERLOAD void atomic_flag_clear_explicit(volatile SPACE atomic_flag* flag, memory_order order,   \
                                                  memory_scope scope) {                                   \
    atomic_store_explicit((volatile SPACE atomic_int*)flag, 0, order, scope);                             \
  }                                                                                                       \
  INLINE OVERLOAD void atomic_flag_clear_explicit(volatile SPACE atomic_flag* flag, memory_order order) { \
    atomic_flag_clear_explicit(flag, order, memory_scope_device);                                         \
  }                                                                                                       \
  INLINE OVERLOAD void atomic_flag_clear(volatile SPACE atomic_flag* flag) {                              \
    atomic_flag_clear_explicit(flag, memory_order_seq_cst, memory_scope_device);                          \
  }
FOR_SPACES(ATOMIC_FLAG, )

// ---- Atomic floating-point numbers

// The hardware has no minimum and maximum of floats. The loop does not write if the value would not change.
#define FLOAT_EXTREME(SPACE, A, T, name)                                                              \
  INLINE OVERLOAD T fetch_##name(volatile SPACE A* object, T value) {                                 \
    T old = __opencl_atomic_load((SPACE A*)object, RELAXED);                                          \
    for (;;) {                                                                                        \
      T next = name(old, value);                                                                      \
      if (next == old || isnan(next)) return old;                                                     \
      if (__opencl_atomic_compare_exchange_strong((SPACE A*)object, &old, next, memory_order_relaxed, \
                                                  memory_order_relaxed, memory_scope_device))         \
        return old;                                                                                   \
    }                                                                                                 \
  }
#define FETCH_SUB_FLOAT(object, value) __opencl_atomic_fetch_add(object, -(value), RELAXED)

#define ATOMIC_FLOAT(SPACE, A, T)                           \
  LOAD_STORE(SPACE, A, T)                                   \
  COMPARE_EXCHANGES(SPACE, A, T)                            \
  MODIFY(SPACE, A, T, T, atomic_exchange, EXCHANGE)         \
  MODIFY(SPACE, A, T, T, atomic_fetch_add, FETCH_ADD)       \
  MODIFY(SPACE, A, T, T, atomic_fetch_sub, FETCH_SUB_FLOAT) \
  FLOAT_EXTREME(SPACE, A, T, fmin)                          \
  FLOAT_EXTREME(SPACE, A, T, fmax)                          \
  MODIFY(SPACE, A, T, T, atomic_fetch_min, fetch_fmin)      \
  MODIFY(SPACE, A, T, T, atomic_fetch_max, fetch_fmax)
FOR_SPACES(ATOMIC_FLOAT, atomic_float, float)
FOR_SPACES(ATOMIC_FLOAT, atomic_double, double)
FOR_SPACES(ATOMIC_FLOAT, atomic_half, half)

// ---- OpenCL C 1.x

#define OLD(SPACE, T, name, operation)                                 \
  INLINE OVERLOAD T atomic_##name(volatile SPACE T* object, T value) { \
    return operation((SPACE atomic_##T*)object, value);                \
  }                                                                    \
  INLINE OVERLOAD T atom_##name(volatile SPACE T* object, T value) {   \
    return operation((SPACE atomic_##T*)object, value);                \
  }
#define OLD_STEP(SPACE, T, name, operation)                   \
  INLINE OVERLOAD T atomic_##name(volatile SPACE T* object) { \
    return operation((SPACE atomic_##T*)object, (T)1);        \
  }                                                           \
  INLINE OVERLOAD T atom_##name(volatile SPACE T* object) {   \
    return operation((SPACE atomic_##T*)object, (T)1);        \
  }
#define OLD_COMPARE(SPACE, T, name)                                                        \
  INLINE OVERLOAD T name(volatile SPACE T* object, T expected, T desired) {                \
    __opencl_atomic_compare_exchange_strong((SPACE atomic_##T*)object, &expected, desired, \
                                            memory_order_relaxed, memory_order_relaxed,    \
                                            memory_scope_device);                          \
    return expected;                                                                       \
  }
#define OLD_INTEGER(SPACE, T)           \
  OLD(SPACE, T, xchg, EXCHANGE)         \
  OLD(SPACE, T, add, FETCH_ADD)         \
  OLD(SPACE, T, sub, FETCH_SUB)         \
  OLD(SPACE, T, min, FETCH_MIN)         \
  OLD(SPACE, T, max, FETCH_MAX)         \
  OLD(SPACE, T, and, FETCH_AND)         \
  OLD(SPACE, T, or, FETCH_OR)           \
  OLD(SPACE, T, xor, FETCH_XOR)         \
  OLD_STEP(SPACE, T, inc, FETCH_ADD)    \
  OLD_STEP(SPACE, T, dec, FETCH_SUB)    \
  OLD_COMPARE(SPACE, T, atomic_cmpxchg) \
  OLD_COMPARE(SPACE, T, atom_cmpxchg)
FOR_SPACES(OLD_INTEGER, int)
FOR_SPACES(OLD_INTEGER, uint)
FOR_SPACES(OLD_INTEGER, long)
FOR_SPACES(OLD_INTEGER, ulong)

#define OLD_FLOAT(SPACE, unused)                                                 \
  INLINE OVERLOAD float atomic_xchg(volatile SPACE float* object, float value) { \
    return EXCHANGE((SPACE atomic_float*)object, value);                         \
  }
FOR_SPACES(OLD_FLOAT, )
