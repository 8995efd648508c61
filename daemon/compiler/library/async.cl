// Asynchronous copies and prefetch (§6.15.11). The work-items of a group share the copying and do it at once.
// The barrier in wait_group_events makes the result visible to all of them.
#include "builtins.h"

static size_t group_size(void) { return get_local_size(0) * get_local_size(1) * get_local_size(2); }

#define COPY(T)                                                                                            \
  OVERLOAD event_t async_work_group_copy(__local T* to, const __global T* from, size_t count, event_t e) { \
    for (size_t i = get_local_linear_id(), step = group_size(); i < count; i += step) to[i] = from[i];     \
    return e;                                                                                              \
  }                                                                                                        \
  OVERLOAD event_t async_work_group_copy(__global T* to, const __local T* from, size_t count, event_t e) { \
    for (size_t i = get_local_linear_id(), step = group_size(); i < count; i += step) to[i] = from[i];     \
    return e;                                                                                              \
  }                                                                                                        \
  OVERLOAD event_t async_work_group_strided_copy(__local T* to, const __global T* from, size_t count,      \
                                                 size_t stride, event_t e) {                               \
    for (size_t i = get_local_linear_id(), step = group_size(); i < count; i += step)                      \
      to[i] = from[i * stride];                                                                            \
    return e;                                                                                              \
  }                                                                                                        \
  OVERLOAD event_t async_work_group_strided_copy(__global T* to, const __local T* from, size_t count,      \
                                                 size_t stride, event_t e) {                               \
    for (size_t i = get_local_linear_id(), step = group_size(); i < count; i += step)                      \
      to[i * stride] = from[i];                                                                            \
    return e;                                                                                              \
  }                                                                                                        \
  INLINE OVERLOAD void prefetch(const __global T* from, size_t count) {                                    \
    if (count != 0) __asm__ volatile("prefetch.global.L2 [%0];" ::"l"(from));                              \
  }
#define EACH_WIDTH(T) COPY(T) COPY(T##2) COPY(T##3) COPY(T##4) COPY(T##8) COPY(T##16)
FOR_TYPES(EACH_WIDTH)

INLINE OVERLOAD void wait_group_events(int count, event_t* events) {
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}
