// Synchronisation and memory fences (§6.15.8, §6.15.12.4, §6.15.12.5).
#include "builtins.h"

INLINE OVERLOAD void atomic_work_item_fence(cl_mem_fence_flags flags, memory_order order,
                                            memory_scope scope) {
  if (order == memory_order_relaxed) return;
  if (order == memory_order_seq_cst) {
    switch (scope) {
      case memory_scope_device:
        __asm__ volatile("fence.sc.gpu;" ::: "memory");
        break;
      case memory_scope_all_svm_devices:
        __asm__ volatile("fence.sc.sys;" ::: "memory");
        break;
      default:
        __asm__ volatile("fence.sc.cta;" ::: "memory");
        break;
    }
  } else {
    switch (scope) {
      case memory_scope_device:
        __asm__ volatile("fence.acq_rel.gpu;" ::: "memory");
        break;
      case memory_scope_all_svm_devices:
        __asm__ volatile("fence.acq_rel.sys;" ::: "memory");
        break;
      default:
        __asm__ volatile("fence.acq_rel.cta;" ::: "memory");
        break;
    }
  }
}

// The hardware's barrier orders all memory accesses among the work-items of the group, whatever the flags.
INLINE OVERLOAD void barrier(cl_mem_fence_flags flags) { __nvvm_bar_sync(0); }

INLINE OVERLOAD void work_group_barrier(cl_mem_fence_flags flags) { __nvvm_bar_sync(0); }

INLINE OVERLOAD void work_group_barrier(cl_mem_fence_flags flags, memory_scope scope) {
  bool beyond_group = scope == memory_scope_device || scope == memory_scope_all_svm_devices;
  if (beyond_group) atomic_work_item_fence(flags, memory_order_release, scope);
  __nvvm_bar_sync(0);
  if (beyond_group) atomic_work_item_fence(flags, memory_order_acquire, scope);
}

INLINE OVERLOAD void sub_group_barrier(cl_mem_fence_flags flags) { __nvvm_bar_warp_sync(~0u); }

INLINE OVERLOAD void sub_group_barrier(cl_mem_fence_flags flags, memory_scope scope) {
  bool beyond_group = scope == memory_scope_device || scope == memory_scope_all_svm_devices;
  if (beyond_group) atomic_work_item_fence(flags, memory_order_release, scope);
  __nvvm_bar_warp_sync(~0u);
  if (beyond_group) atomic_work_item_fence(flags, memory_order_acquire, scope);
}

// Programs in OpenCL C 1.x that pass data between work-groups have no other way to order accesses to global
// memory, hence device scope.
INLINE OVERLOAD void mem_fence(cl_mem_fence_flags flags) {
  atomic_work_item_fence(flags, memory_order_acq_rel,
                         flags & CLK_GLOBAL_MEM_FENCE ? memory_scope_device : memory_scope_work_group);
}
INLINE OVERLOAD void read_mem_fence(cl_mem_fence_flags flags) { mem_fence(flags); }
INLINE OVERLOAD void write_mem_fence(cl_mem_fence_flags flags) { mem_fence(flags); }
