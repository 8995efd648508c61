// Samplers that are written in programs.
#include "builtins.h"

// What the compiler calls with such a sampler's bits. A sampler is not in memory: its bits are its address.
INLINE __constant void* __translate_sampler_initializer(int bits) {
  return (__constant void*)(ulong)(uint)bits;
}
