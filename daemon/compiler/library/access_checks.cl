// What kernels of programs call that check their accesses (passes/access_checks.hpp). The functions are not inlined,
// because their own accesses are not checked.
#include "abi.h"

typedef __global struct clique_access_checks* checks_t;

/// @param image address of a clique_image; 0: `begin` is an address
static void check(checks_t checks, ulong image, ulong begin, ulong size, uint writes) {
  const __global struct clique_expected_range* range = (const __global struct clique_expected_range*)(checks + 1);
  for (uint i = 0; i < checks->ranges; ++i, ++range)
    if (range->image == image && begin >= range->begin && begin < range->end && size <= range->end - begin &&
        (!writes || range->writes))
      return;
  if (__scoped_atomic_fetch_add(&checks->found, 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE) != 0) return;
  checks->image = image;
  checks->begin = begin;
  checks->size = (uint)size;
  checks->writes = writes;
}

/// Notes an access that is outside of what the launch is expected to access.
/// @param checks null: nothing is checked
/// @param size bytes; 0: there is no access
__attribute__((noinline)) void __clique_check_access(checks_t checks, ulong begin, ulong size, uint writes) {
  if (checks != 0 && size != 0) check(checks, 0, begin, size, writes);
}

/// The same for a pixel. A read outside of the image counts as one of the nearest pixel at its edge; a write there has
/// no effect.
/// @param coordinates their number, layers included; those that the image does not have are 0
__attribute__((noinline)) void __clique_check_pixel(checks_t checks, const __global struct clique_image* image,
                                                    uint coordinates, int x, int y, int z, uint writes) {
  if (checks == 0) return;
  const int3 extent = (int3)((int)image->width, (int)(coordinates == 2 ? image->height * image->layers : image->height),
                             (int)(image->depth * image->layers));
  const int3 at = (int3)(x, y, z);
  const int3 inside = (int3)(x < 0 ? 0 : x < extent.x ? x : extent.x - 1, y < 0 ? 0 : y < extent.y ? y : extent.y - 1,
                             z < 0 ? 0 : z < extent.z ? z : extent.z - 1);
  if (writes && (at.x != inside.x || at.y != inside.y || at.z != inside.z)) return;
  const ulong row = image->memory != 0 ? image->row_pitch : (ulong)image->width * image->element_size;
  check(checks, (ulong)image,
        ((ulong)inside.z * (uint)extent.y + (uint)inside.y) * row + (ulong)inside.x * image->element_size,
        image->element_size, writes);
}
