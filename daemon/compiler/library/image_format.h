// Converting between the channels of a texel in memory and the colours that programs see (OpenCL C
// specification, §8.3; OpenCL API specification, §5.3.1).
#ifndef CLIQUE_DAEMON_COMPILER_LIBRARY_IMAGE_FORMAT_H
#define CLIQUE_DAEMON_COMPILER_LIBRARY_IMAGE_FORMAT_H

#include "image.h"

// Most images are RGBA and should not pay for the others.
#define IS_RGBA(order) __builtin_expect((order) == CLK_RGBA, 1)

// The colour for channels in the order of memory. Missing channels become 0; a missing alpha becomes 1.
#define COLOUR(V, T)                                \
  OVERLOAD static V colour(uint order, V memory) {  \
    if (IS_RGBA(order)) return memory;              \
    switch (order) {                                \
      case CLK_sRGBA:                               \
        return memory;                              \
      case CLK_BGRA:                                \
      case CLK_sBGRA:                               \
        return memory.zyxw;                         \
      case CLK_ARGB:                                \
        return memory.yzwx;                         \
      case CLK_ABGR:                                \
        return memory.wzyx;                         \
      case CLK_RGB:                                 \
      case CLK_RGBx:                                \
      case CLK_sRGB:                                \
      case CLK_sRGBx:                               \
        return (V)(memory.xyz, (T)1);               \
      case CLK_RG:                                  \
      case CLK_RGx:                                 \
        return (V)(memory.xy, (T)0, (T)1);          \
      case CLK_RA:                                  \
        return (V)(memory.x, (T)0, (T)0, memory.y); \
      case CLK_A:                                   \
        return (V)((T)0, (T)0, (T)0, memory.x);     \
      case CLK_INTENSITY:                           \
        return memory.xxxx;                         \
      case CLK_LUMINANCE:                           \
        return (V)(memory.xxx, (T)1);               \
      default:                                      \
        return (V)(memory.x, (T)0, (T)0, (T)1);     \
    }                                               \
  }
COLOUR(float4, float)
COLOUR(int4, int)
COLOUR(uint4, uint)

// The channels of a colour in the order of memory. Channels that the format lacks may have any value.
#define CHANNELS(V)                                  \
  OVERLOAD static V channels(uint order, V colour) { \
    if (IS_RGBA(order)) return colour;               \
    switch (order) {                                 \
      case CLK_BGRA:                                 \
      case CLK_sBGRA:                                \
        return colour.zyxw;                          \
      case CLK_ARGB:                                 \
        return colour.wxyz;                          \
      case CLK_ABGR:                                 \
        return colour.wzyx;                          \
      case CLK_RA:                                   \
        return colour.xwxw;                          \
      case CLK_A:                                    \
        return colour.wwww;                          \
      default:                                       \
        return colour;                               \
    }                                                \
  }
CHANNELS(float4)
CHANNELS(int4)
CHANNELS(uint4)

#endif
