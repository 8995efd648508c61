// Address space qualifier functions (§6.15.9). Clang compiles to_global, to_local and to_private to calls of
// the functions with two underscores.
#include "builtins.h"

__global void* __to_global(void* pointer) {
  return __nvvm_isspacep_global(pointer) ? (__global void*)pointer : (__global void*)0;
}
__local void* __to_local(void* pointer) {
  return __nvvm_isspacep_shared(pointer) ? (__local void*)pointer : (__local void*)0;
}
__private void* __to_private(void* pointer) {
  return __nvvm_isspacep_local(pointer) ? (__private void*)pointer : (__private void*)0;
}

OVERLOAD cl_mem_fence_flags get_fence(const void* pointer) {
  return __nvvm_isspacep_shared(pointer)   ? CLK_LOCAL_MEM_FENCE
         : __nvvm_isspacep_global(pointer) ? CLK_GLOBAL_MEM_FENCE
                                           : 0;
}
OVERLOAD cl_mem_fence_flags get_fence(void* pointer) { return get_fence((const void*)pointer); }
