// The definitions of describe() (image.h) and sampler_bits() (image_read.cl).
#include "builtins.h"

INLINE const __global struct clique_image* __clique_describe(const __global struct clique_image* image) {
  return image;
}
INLINE uint __clique_sampler_bits(__constant void* sampler) { return (uint)(ulong)sampler; }
