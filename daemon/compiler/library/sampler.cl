// Samplers that are defined in programs.
#include "builtins.h"

// The compiler calls this function with the sampler's bits. A sampler is not in memory: its bits are its
// address.
INLINE __constant void* __translate_sampler_initializer(int bits) {
  return (__constant void*)(ulong)(uint)bits;
}
