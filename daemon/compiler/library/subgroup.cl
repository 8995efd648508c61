// Sub-group functions (§6.15.19) and the cl_khr_subgroup_* extensions. A sub-group is a warp: 32 work-items
// with consecutive linear ids. The last one of a work-group may have fewer.
//
// Functions that all work-items of a sub-group have to call pass the mask of all lanes, so that they also
// work if the warp has not reconverged yet; lanes that do not exist count as exited. Functions that may be
// called in divergent code work on the lanes that are active together.
#include "subgroup.h"

// The architecture that the program is compiled for; the compiler replaces the call by a number. From sm_80
// on, the redux instruction reduces a whole warp. (The function has a C name of its own because Clang
// declares __nvvm_reflect itself, wrongly as one that does not return.)
int reflect(const char* what) __asm("__nvvm_reflect") __attribute__((const));
__global const char architecture[] = "__CUDA_ARCH";
static bool has_redux(void) { return reflect(architecture) >= 800; }

static uint group_size(void) {
  return (uint)get_local_size(0) * (uint)get_local_size(1) * (uint)get_local_size(2);
}

OVERLOAD uint get_sub_group_size(void) { return min(32u, group_size() - get_sub_group_id() * 32); }
OVERLOAD uint get_max_sub_group_size(void) {
  ulong size = get_enqueued_local_size(0) * get_enqueued_local_size(1) * get_enqueued_local_size(2);
  return (uint)min(32ul, size);
}
OVERLOAD uint get_num_sub_groups(void) { return (group_size() + 31) / 32; }
OVERLOAD uint get_enqueued_num_sub_groups(void) {
  ulong size = get_enqueued_local_size(0) * get_enqueued_local_size(1) * get_enqueued_local_size(2);
  return (uint)((size + 31) / 32);
}
OVERLOAD uint get_sub_group_id(void) { return (uint)get_local_linear_id() / 32; }
OVERLOAD uint get_sub_group_local_id(void) { return LANE; }

// ---- Votes and ballots

OVERLOAD int sub_group_all(int predicate) { return __nvvm_vote_all_sync(EVERYONE, predicate != 0); }
OVERLOAD int sub_group_any(int predicate) { return __nvvm_vote_any_sync(EVERYONE, predicate != 0); }

OVERLOAD int sub_group_elect(void) {
  uint active = __nvvm_activemask();
  return (active & ((1u << LANE) - 1)) == 0;
}
OVERLOAD int sub_group_non_uniform_all(int predicate) {
  return __nvvm_vote_all_sync(__nvvm_activemask(), predicate != 0);
}
OVERLOAD int sub_group_non_uniform_any(int predicate) {
  return __nvvm_vote_any_sync(__nvvm_activemask(), predicate != 0);
}

OVERLOAD uint4 sub_group_ballot(int predicate) {
  return (uint4)(__nvvm_vote_ballot_sync(__nvvm_activemask(), predicate != 0), 0, 0, 0);
}
OVERLOAD int sub_group_inverse_ballot(uint4 value) { return value.x >> LANE & 1; }
OVERLOAD int sub_group_ballot_bit_extract(uint4 value, uint index) {
  return index < 32 ? value.x >> index & 1 : 0;
}

// The valid bits of a ballot are those of a full sub-group, also in the last sub-group, which may be smaller.
// Khronos' conformance tests expect it so.
static uint full(void) { return ~0u >> (32 - get_max_sub_group_size()); }

OVERLOAD uint sub_group_ballot_bit_count(uint4 value) { return popcount(value.x & full()); }
OVERLOAD uint sub_group_ballot_inclusive_scan(uint4 value) { return popcount(value.x & (2u << LANE) - 1); }
OVERLOAD uint sub_group_ballot_exclusive_scan(uint4 value) { return popcount(value.x & (1u << LANE) - 1); }
OVERLOAD uint sub_group_ballot_find_lsb(uint4 value) { return ctz(value.x & full()); }
OVERLOAD uint sub_group_ballot_find_msb(uint4 value) { return 31 - clz(value.x & full()); }

OVERLOAD uint4 get_sub_group_eq_mask(void) { return (uint4)(1u << LANE, 0, 0, 0); }
OVERLOAD uint4 get_sub_group_ge_mask(void) { return (uint4)(-(1u << LANE) & full(), 0, 0, 0); }
OVERLOAD uint4 get_sub_group_gt_mask(void) { return (uint4)(-(2u << LANE) & full(), 0, 0, 0); }
OVERLOAD uint4 get_sub_group_le_mask(void) { return (uint4)((2u << LANE) - 1, 0, 0, 0); }
OVERLOAD uint4 get_sub_group_lt_mask(void) { return (uint4)((1u << LANE) - 1, 0, 0, 0); }

// ---- Values of other work-items

#define EXCHANGES(T)                                                                                    \
  OVERLOAD T sub_group_broadcast(T value, uint id) { return value_of(EVERYONE, value, id); }            \
  OVERLOAD T sub_group_non_uniform_broadcast(T value, uint id) {                                        \
    return value_of(__nvvm_activemask(), value, id);                                                    \
  }                                                                                                     \
  OVERLOAD T sub_group_broadcast_first(T value) {                                                       \
    uint active = __nvvm_activemask();                                                                  \
    return value_of(active, value, ctz(active));                                                        \
  }                                                                                                     \
  OVERLOAD T sub_group_shuffle(T value, uint id) { return value_of(__nvvm_activemask(), value, id); }   \
  OVERLOAD T sub_group_shuffle_xor(T value, uint mask) {                                                \
    return value_of(__nvvm_activemask(), value, LANE ^ mask);                                           \
  }                                                                                                     \
  OVERLOAD T sub_group_shuffle_up(T value, uint delta) {                                                \
    return value_of(__nvvm_activemask(), value, LANE - delta);                                          \
  }                                                                                                     \
  OVERLOAD T sub_group_shuffle_down(T value, uint delta) {                                              \
    return value_of(__nvvm_activemask(), value, LANE + delta);                                          \
  }                                                                                                     \
  OVERLOAD T sub_group_rotate(T value, int delta) {                                                     \
    uint size = get_sub_group_size();                                                                   \
    uint from =                                                                                         \
        size == 32 ? (LANE + (uint)delta) & 31 : (LANE + (uint)(delta % (int)size + (int)size)) % size; \
    return value_of(__nvvm_activemask(), value, from);                                                  \
  }                                                                                                     \
  OVERLOAD T sub_group_clustered_rotate(T value, int delta, uint cluster) {                             \
    uint from = (LANE & ~(cluster - 1)) | (LANE + (uint)delta & (cluster - 1));                         \
    return value_of(__nvvm_activemask(), value, from);                                                  \
  }                                                                                                     \
  OVERLOAD int sub_group_non_uniform_all_equal(T value) {                                               \
    uint active = __nvvm_activemask();                                                                  \
    return __nvvm_vote_all_sync(active, value == value_of(active, value, ctz(active)));                 \
  }
FOR_TYPES(EXCHANGES)

#define BROADCAST_VECTOR(n, T)                                                             \
  OVERLOAD T##n sub_group_broadcast(T##n value, uint id) {                                 \
    T##n result;                                                                           \
    for (int i = 0; i < n; ++i) result[i] = sub_group_broadcast(value[i], id);             \
    return result;                                                                         \
  }                                                                                        \
  OVERLOAD T##n sub_group_non_uniform_broadcast(T##n value, uint id) {                     \
    T##n result;                                                                           \
    for (int i = 0; i < n; ++i) result[i] = sub_group_non_uniform_broadcast(value[i], id); \
    return result;                                                                         \
  }
#define BROADCAST_VECTORS(T) FOR_VECTORS(BROADCAST_VECTOR, T)
FOR_TYPES(BROADCAST_VECTORS)

// ---- Reductions and scans over all work-items

// Halves the distance between the lanes that are combined, from 16 to 1.
#define REDUCE_BY_STEPS(T, combine)                        \
  uint size = get_sub_group_size();                        \
  for (uint step = 16; step > 0; step /= 2) {              \
    T other = value_of(EVERYONE, value, LANE + step);      \
    if (LANE + step < size) value = combine(value, other); \
  }                                                        \
  return value_of(EVERYONE, value, 0);
#define REDUCE(T, name, combine) \
  OVERLOAD T sub_group_reduce_##name(T value) { REDUCE_BY_STEPS(T, combine) }
#define SCAN(T, name, combine, neutral)                                                \
  OVERLOAD T sub_group_scan_inclusive_##name(T value) {                                \
    for (uint step = 1; step < 32; step *= 2) {                                        \
      T other = value_of(EVERYONE, value, LANE - step);                                \
      if (LANE >= step) value = combine(other, value);                                 \
    }                                                                                  \
    return value;                                                                      \
  }                                                                                    \
  OVERLOAD T sub_group_scan_exclusive_##name(T value) {                                \
    T previous = value_of(EVERYONE, sub_group_scan_inclusive_##name(value), LANE - 1); \
    return LANE == 0 ? (T)neutral : previous;                                          \
  }

// From sm_80 on, an instruction reduces integers of up to 32 bits.
#define REDUCE_BY_INSTRUCTION(T, W, name, combine, instruction)         \
  OVERLOAD T sub_group_reduce_##name(T value) {                         \
    if (has_redux()) return (T)redux_##instruction(EVERYONE, (W)value); \
    REDUCE_BY_STEPS(T, combine)                                         \
  }

#define REDUX(W, name, operation, type)                              \
  static W redux_##name(uint lanes, W value) {                       \
    W result;                                                        \
    __asm__ volatile("redux.sync." operation "." type " %0, %1, %2;" \
                     : "=r"(result)                                  \
                     : "r"(value), "r"(lanes));                      \
    return result;                                                   \
  }
REDUX(int, add_s, "add", "s32")
REDUX(int, min_s, "min", "s32")
REDUX(int, max_s, "max", "s32")
REDUX(uint, add_u, "add", "u32")
REDUX(uint, min_u, "min", "u32")
REDUX(uint, max_u, "max", "u32")

#define REDUCE_SMALL(T, W, sign)                    \
  REDUCE_BY_INSTRUCTION(T, W, add, ADD, add_##sign) \
  REDUCE_BY_INSTRUCTION(T, W, min, min, min_##sign) \
  REDUCE_BY_INSTRUCTION(T, W, max, max, max_##sign)
REDUCE_SMALL(char, int, s)
REDUCE_SMALL(uchar, uint, u)
REDUCE_SMALL(short, int, s)
REDUCE_SMALL(ushort, uint, u)
REDUCE_SMALL(int, int, s)
REDUCE_SMALL(uint, uint, u)

#define REDUCE_LARGE(T) REDUCE(T, add, ADD) REDUCE(T, min, min) REDUCE(T, max, max)
REDUCE_LARGE(long)
REDUCE_LARGE(ulong)
FOR_FLOATS(REDUCE_LARGE)
#define REDUCE_PRODUCT(T) REDUCE(T, mul, MUL)
FOR_TYPES(REDUCE_PRODUCT)

#define SCANS(T, least, greatest) \
  SCAN(T, add, ADD, 0)            \
  SCAN(T, mul, MUL, 1)            \
  SCAN(T, min, min, greatest)     \
  SCAN(T, max, max, least)
FOR_LIMITS(SCANS)

// SPIR-V has these, and multiplication, beyond OpenCL C (SPV_KHR_uniform_group_instructions). The names are the
// translator's.
#define WHOLE(T, name, combine, neutral) REDUCE(T, name, combine) SCAN(T, name, combine, neutral)
#define WHOLE_BITS(T)            \
  WHOLE(T, bitwise_and, AND, ~0) \
  WHOLE(T, bitwise_or, OR, 0)    \
  WHOLE(T, bitwise_xor, XOR, 0)
FOR_INTEGERS(WHOLE_BITS)
WHOLE(int, logical_and, LOGICAL_AND, 1)
WHOLE(int, logical_or, LOGICAL_OR, 0)
WHOLE(int, logical_xor, LOGICAL_XOR, 0)

// ---- Reductions and scans over the active work-items

// accumulate_*() combines the values of the work-items in `lanes`, in the order of their ids. All work-items
// in `active` take part in exchanging the values.
#define ACTIVE(T, name, combine, neutral)                                    \
  OVERLOAD static T accumulate_##name(uint active, uint lanes, T value) {    \
    T sum = (T)neutral;                                                      \
    for (uint rest = active; rest != 0; rest &= rest - 1) {                  \
      uint lane = ctz(rest);                                                 \
      T other = value_of(active, value, lane);                               \
      if (lanes >> lane & 1) sum = combine(sum, other);                      \
    }                                                                        \
    return sum;                                                              \
  }                                                                          \
  OVERLOAD T sub_group_non_uniform_reduce_##name(T value) {                  \
    uint active = __nvvm_activemask();                                       \
    if (active != EVERYONE) return accumulate_##name(active, active, value); \
    for (uint step = 16; step > 0; step /= 2)                                \
      value = combine(value, value_of(EVERYONE, value, LANE ^ step));        \
    return value;                                                            \
  }                                                                          \
  OVERLOAD T sub_group_non_uniform_scan_inclusive_##name(T value) {          \
    return accumulate_##name(__nvvm_activemask(), (2u << LANE) - 1, value);  \
  }                                                                          \
  OVERLOAD T sub_group_non_uniform_scan_exclusive_##name(T value) {          \
    return accumulate_##name(__nvvm_activemask(), (1u << LANE) - 1, value);  \
  }                                                                          \
  OVERLOAD T sub_group_clustered_reduce_##name(T value, uint cluster) {      \
    uint active = __nvvm_activemask();                                       \
    if (active == EVERYONE) {                                                \
      for (uint step = cluster / 2; step > 0; step /= 2)                     \
        value = combine(value, value_of(EVERYONE, value, LANE ^ step));      \
      return value;                                                          \
    }                                                                        \
    uint first = LANE & ~(cluster - 1);                                      \
    return accumulate_##name(active, ~0u >> (32 - cluster) << first, value); \
  }
#define ACTIVE_ARITHMETIC(T, least, greatest) \
  ACTIVE(T, add, ADD, 0)                      \
  ACTIVE(T, mul, MUL, 1)                      \
  ACTIVE(T, min, min, greatest)               \
  ACTIVE(T, max, max, least)
FOR_LIMITS(ACTIVE_ARITHMETIC)

// Bitwise and logical operations, for integers and truth values.
#define ACTIVE_BITS(T)    \
  ACTIVE(T, and, AND, ~0) \
  ACTIVE(T, or, OR, 0)    \
  ACTIVE(T, xor, XOR, 0)
FOR_INTEGERS(ACTIVE_BITS)

ACTIVE(int, logical_and, LOGICAL_AND, 1)
ACTIVE(int, logical_or, LOGICAL_OR, 0)
ACTIVE(int, logical_xor, LOGICAL_XOR, 0)
