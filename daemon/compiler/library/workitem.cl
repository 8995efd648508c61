// Work-item functions (§6.15.1).
#include "builtins.h"

// Hidden values: the compiler replaces calls by parameters of the kernel. Hidden in
// contract/program_binary.hpp describes them.
ulong __clique_id_offset_x(void) __attribute__((const));
ulong __clique_id_offset_y(void) __attribute__((const));
ulong __clique_id_offset_z(void) __attribute__((const));
ulong __clique_global_offset_x(void) __attribute__((const));
ulong __clique_global_offset_y(void) __attribute__((const));
ulong __clique_global_offset_z(void) __attribute__((const));
ulong __clique_global_size_x(void) __attribute__((const));
ulong __clique_global_size_y(void) __attribute__((const));
ulong __clique_global_size_z(void) __attribute__((const));
uint __clique_group_offset_x(void) __attribute__((const));
uint __clique_group_offset_y(void) __attribute__((const));
uint __clique_group_offset_z(void) __attribute__((const));
uint __clique_num_groups_x(void) __attribute__((const));
uint __clique_num_groups_y(void) __attribute__((const));
uint __clique_num_groups_z(void) __attribute__((const));
uint __clique_enqueued_size_x(void) __attribute__((const));
uint __clique_enqueued_size_y(void) __attribute__((const));
uint __clique_enqueued_size_z(void) __attribute__((const));
uint __clique_work_dim(void) __attribute__((const));

// 1 if kernels take whole work-groups only. The compiler sets the value.
extern __constant int __clique_uniform_groups;
// 1 if also each launch runs all work-groups of its NDRange.
extern __constant int __clique_one_grid;

// If all work-groups of a dimension are in one grid, the hardware's registers give everything except the
// offset. That is the case in the first dimension if all work-groups are whole. In the other dimensions a
// grid has at most 65535 groups, so that an NDRange may take several grids.
#define ONE_GRID_x __clique_one_grid
#define ONE_GRID_y 0
#define ONE_GRID_z 0

// Defines the function `name`, which evaluates EXPRESSION(x), (y) or (z) for dimension 0, 1 or 2, and returns
// `outside` for others. The letter is the last one in the names of registers and hidden values.
#define BY_DIMENSION(R, name, EXPRESSION, outside) \
  INLINE OVERLOAD R name(uint dimension) {         \
    switch (dimension) {                           \
      case 0:                                      \
        return EXPRESSION(x);                      \
      case 1:                                      \
        return EXPRESSION(y);                      \
      case 2:                                      \
        return EXPRESSION(z);                      \
      default:                                     \
        return outside;                            \
    }                                              \
  }

#define LOCAL_ID(d) (uint) __nvvm_read_ptx_sreg_tid_##d()
#define LOCAL_SIZE(d) (uint) __nvvm_read_ptx_sreg_ntid_##d()
#define GRID_GROUP(d) (uint) __nvvm_read_ptx_sreg_ctaid_##d()
#define GRID_SIZE(d) (uint) __nvvm_read_ptx_sreg_nctaid_##d()

#define GLOBAL_ID(d) __clique_id_offset_##d() + ((ulong)GRID_GROUP(d) * LOCAL_SIZE(d) + LOCAL_ID(d))
#define GLOBAL_OFFSET(d) __clique_global_offset_##d()
#define GLOBAL_SIZE(d) ONE_GRID_##d ? (ulong)GRID_SIZE(d) * LOCAL_SIZE(d) : __clique_global_size_##d()
#define GROUP_ID(d) ONE_GRID_##d ? GRID_GROUP(d) : __clique_group_offset_##d() + GRID_GROUP(d)
#define NUM_GROUPS(d) ONE_GRID_##d ? GRID_SIZE(d) : __clique_num_groups_##d()
#define ENQUEUED_SIZE(d) __clique_uniform_groups ? LOCAL_SIZE(d) : __clique_enqueued_size_##d()

BY_DIMENSION(size_t, get_global_id, GLOBAL_ID, 0)
BY_DIMENSION(size_t, get_global_offset, GLOBAL_OFFSET, 0)
BY_DIMENSION(size_t, get_global_size, GLOBAL_SIZE, 1)
BY_DIMENSION(size_t, get_group_id, GROUP_ID, 0)
BY_DIMENSION(size_t, get_num_groups, NUM_GROUPS, 1)
BY_DIMENSION(size_t, get_local_id, LOCAL_ID, 0)
BY_DIMENSION(size_t, get_local_size, LOCAL_SIZE, 1)
BY_DIMENSION(size_t, get_enqueued_local_size, ENQUEUED_SIZE, 1)

INLINE OVERLOAD uint get_work_dim(void) { return __clique_work_dim(); }

INLINE OVERLOAD size_t get_local_linear_id(void) {
  return (LOCAL_ID(z) * LOCAL_SIZE(y) + LOCAL_ID(y)) * LOCAL_SIZE(x) + LOCAL_ID(x);
}

INLINE OVERLOAD size_t get_global_linear_id(void) {
  ulong x = get_global_id(0) - get_global_offset(0);
  ulong y = get_global_id(1) - get_global_offset(1);
  ulong z = get_global_id(2) - get_global_offset(2);
  return (z * get_global_size(1) + y) * get_global_size(0) + x;
}
