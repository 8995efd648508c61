// The functions of cl_intel_subgroups, cl_intel_subgroups_char, _short and _long, except for those that read and
// write images. The device does not have these extensions; the translator makes calls of these functions from the
// instructions of SPV_INTEL_subgroups, which SYCL's compilers use.
#include "subgroup.h"

// ---- Values of other work-items. Not all work-items of the sub-group need to call these.

#define SHUFFLES(T)                                                                   \
  OVERLOAD T intel_sub_group_shuffle(T value, uint id) {                              \
    return value_of(__nvvm_activemask(), value, id);                                  \
  }                                                                                   \
  OVERLOAD T intel_sub_group_shuffle_xor(T value, uint mask) {                        \
    return value_of(__nvvm_activemask(), value, LANE ^ mask);                         \
  }                                                                                   \
  OVERLOAD T intel_sub_group_shuffle_down(T current, T next, uint delta) {            \
    uint size = get_max_sub_group_size();                                             \
    uint active = __nvvm_activemask();                                                \
    T near = value_of(active, current, LANE + delta);                                 \
    T far = value_of(active, next, LANE + delta - size);                              \
    return LANE + delta < size ? near : far;                                          \
  }                                                                                   \
  OVERLOAD T intel_sub_group_shuffle_up(T previous, T current, uint delta) {          \
    uint active = __nvvm_activemask();                                                \
    T near = value_of(active, current, LANE - delta);                                 \
    T far = value_of(active, previous, LANE - delta + get_max_sub_group_size());      \
    return LANE >= delta ? near : far;                                                \
  }
FOR_TYPES(SHUFFLES)

#define VECTOR_SHUFFLES(n, T)                                                                             \
  OVERLOAD T##n intel_sub_group_shuffle(T##n value, uint id) {                                            \
    T##n result;                                                                                          \
    for (int i = 0; i < n; ++i) result[i] = intel_sub_group_shuffle(value[i], id);                        \
    return result;                                                                                        \
  }                                                                                                       \
  OVERLOAD T##n intel_sub_group_shuffle_xor(T##n value, uint mask) {                                      \
    T##n result;                                                                                          \
    for (int i = 0; i < n; ++i) result[i] = intel_sub_group_shuffle_xor(value[i], mask);                  \
    return result;                                                                                        \
  }                                                                                                       \
  OVERLOAD T##n intel_sub_group_shuffle_down(T##n current, T##n next, uint delta) {                       \
    T##n result;                                                                                          \
    for (int i = 0; i < n; ++i) result[i] = intel_sub_group_shuffle_down(current[i], next[i], delta);     \
    return result;                                                                                        \
  }                                                                                                       \
  OVERLOAD T##n intel_sub_group_shuffle_up(T##n previous, T##n current, uint delta) {                     \
    T##n result;                                                                                          \
    for (int i = 0; i < n; ++i) result[i] = intel_sub_group_shuffle_up(previous[i], current[i], delta);   \
    return result;                                                                                        \
  }
#define ALL_VECTOR_SHUFFLES(T) FOR_VECTORS(VECTOR_SHUFFLES, T)
FOR_TYPES(ALL_VECTOR_SHUFFLES)

// ---- Blocks of memory: component i of work-item j is element i * (sub-group size) + j.

#define BLOCK(n, T, suffix)                                                                                  \
  OVERLOAD T##n intel_sub_group_block_read##suffix##n(const __global T* from) {                              \
    uint size = get_max_sub_group_size();                                                                    \
    T##n result;                                                                                             \
    for (int i = 0; i < n; ++i) result[i] = from[i * size + LANE];                                           \
    return result;                                                                                           \
  }                                                                                                          \
  OVERLOAD void intel_sub_group_block_write##suffix##n(__global T* to, T##n value) {                         \
    uint size = get_max_sub_group_size();                                                                    \
    for (int i = 0; i < n; ++i) to[i * size + LANE] = value[i];                                              \
  }
#define BLOCKS(T, suffix)                                                                                    \
  OVERLOAD T intel_sub_group_block_read##suffix(const __global T* from) { return from[LANE]; }               \
  OVERLOAD void intel_sub_group_block_write##suffix(__global T* to, T value) { to[LANE] = value; }           \
  BLOCK(2, T, suffix)                                                                                        \
  BLOCK(4, T, suffix)                                                                                        \
  BLOCK(8, T, suffix)
BLOCKS(uchar, _uc)
BLOCK(16, uchar, _uc)
BLOCKS(ushort, _us)
BLOCK(16, ushort, _us)
BLOCKS(uint, )
BLOCKS(ulong, _ul)
