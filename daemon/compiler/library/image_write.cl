// Image write functions, and read functions for read-write images (§6.15.15.4, §6.15.15.5). They use the
// surface object, which transfers bits.
#include "image_memory.h"

// ---- The instructions, for each geometry of an image and size of a texel. x is in bytes. With `.zero`,
// writes outside
// the image have no effect, and reads give 0.

// `at` has the operands that are coordinates.
#define SUST(geometry, type, at, values)                                                                     \
  __asm__ volatile("sust.b." geometry "." type ".zero [%0, {" at "}], {" values "};" ::"l"(surface), "r"(a), \
                   "r"(b), "r"(c), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)                                    \
                   : "memory")
// Bytes and shorts use 16-bit registers.
#define SUST_SHORT(geometry, type, at)                                                                       \
  __asm__ volatile("sust.b." geometry "." type ".zero [%0, {" at "}], {%4};" ::"l"(surface), "r"(a), "r"(b), \
                   "r"(c), "h"((ushort)v.x)                                                                  \
                   : "memory")
#define SULD(geometry, type, at, values, others)                                            \
  __asm__ volatile("suld.b." geometry "." type ".zero {" values "}, [%4, {" at "}];" others \
                   : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)                             \
                   : "l"(surface), "r"(a), "r"(b), "r"(c)                                   \
                   : "memory")
#define SULD_SHORT(geometry, type, at)                                       \
  __asm__ volatile("suld.b." geometry "." type ".zero {%0}, [%1, {" at "}];" \
                   : "=h"(narrow)                                            \
                   : "l"(surface), "r"(a), "r"(b), "r"(c)                    \
                   : "memory")

#define SURFACE(name, geometry, at_of_store, at_of_load, at_of_short)                             \
  static void store_##name(ulong surface, uint size, int a, int b, int c, uint4 v) {              \
    switch (size) {                                                                               \
      case 1:                                                                                     \
        SUST_SHORT(geometry, "b8", at_of_store);                                                  \
        break;                                                                                    \
      case 2:                                                                                     \
        SUST_SHORT(geometry, "b16", at_of_store);                                                 \
        break;                                                                                    \
      case 4:                                                                                     \
        SUST(geometry, "b32", at_of_store, "%4");                                                 \
        break;                                                                                    \
      case 8:                                                                                     \
        SUST(geometry, "v2.b32", at_of_store, "%4, %5");                                          \
        break;                                                                                    \
      default:                                                                                    \
        SUST(geometry, "v4.b32", at_of_store, "%4, %5, %6, %7");                                  \
        break;                                                                                    \
    }                                                                                             \
  }                                                                                               \
  static uint4 load_##name(ulong surface, uint size, int a, int b, int c) {                       \
    uint4 v;                                                                                      \
    ushort narrow;                                                                                \
    switch (size) {                                                                               \
      case 1:                                                                                     \
        SULD_SHORT(geometry, "b8", at_of_short);                                                  \
        return (uint4)(narrow & 0xff, 0, 0, 0);                                                   \
      case 2:                                                                                     \
        SULD_SHORT(geometry, "b16", at_of_short);                                                 \
        return (uint4)(narrow, 0, 0, 0);                                                          \
      case 4:                                                                                     \
        SULD(geometry, "b32", at_of_load, "%0", " mov.b32 %1, 0; mov.b32 %2, 0; mov.b32 %3, 0;"); \
        return v;                                                                                 \
      case 8:                                                                                     \
        SULD(geometry, "v2.b32", at_of_load, "%0, %1", " mov.b32 %2, 0; mov.b32 %3, 0;");         \
        return v;                                                                                 \
      default:                                                                                    \
        SULD(geometry, "v4.b32", at_of_load, "%0, %1, %2, %3", "");                               \
        return v;                                                                                 \
    }                                                                                             \
  }
SURFACE(1d, "1d", "%1", "%5", "%2")
SURFACE(2d, "2d", "%1, %2", "%5, %6", "%2, %3")
SURFACE(3d, "3d", "%1, %2, %3, %3", "%5, %6, %7, %7", "%2, %3, %4, %4")
SURFACE(1d_array, "a1d", "%1, %2", "%5, %6", "%2, %3")
SURFACE(2d_array, "a2d", "%1, %2, %3, %3", "%5, %6, %7, %7", "%2, %3, %4, %4")

// ---- Accessing a texel at a program's coordinates. The instructions expect the layer first.

#define BYTES(x) (x) * (int)d->element_size
#define AT_1d(c) BYTES(c), 0, 0
#define AT_2d(c) BYTES(c.x), c.y, 0
#define AT_3d(c) BYTES(c.x), c.y, c.z
#define AT_1d_array(c) c.y, BYTES(c.x), 0
#define AT_2d_array(c) c.z, BYTES(c.x), c.y

#define BY_SURFACE(name, I)                                        \
  static uint4 load_texel_##name(descriptor d, I c) {              \
    return load_##name(d->surface, d->element_size, AT_##name(c)); \
  }                                                                \
  static void store_texel_##name(descriptor d, I c, uint4 bits) {  \
    store_##name(d->surface, d->element_size, AT_##name(c), bits); \
  }
BY_SURFACE(1d, int)
BY_SURFACE(3d, int4)
BY_SURFACE(1d_array, int2)
BY_SURFACE(2d_array, int4)

// Two-dimensional images may lie in linear memory; image buffers always do.
static uint4 load_texel_2d(descriptor d, int2 c) {
  if (d->surface == 0) return load_memory(d, c.x, c.y);
  return load_2d(d->surface, d->element_size, AT_2d(c));
}
static void store_texel_2d(descriptor d, int2 c, uint4 bits) {
  if (d->surface == 0) {
    store_memory(d, c.x, c.y, bits);
  } else {
    store_2d(d->surface, d->element_size, AT_2d(c), bits);
  }
}
static uint4 load_texel_1d_buffer(descriptor d, int c) { return load_memory(d, c, 0); }
static void store_texel_1d_buffer(descriptor d, int c, uint4 bits) { store_memory(d, c, 0, bits); }

// ---- The functions

#define WRITE(access, image_t, name, I, V, suffix)                         \
  OVERLOAD void write_image##suffix(access image_t image, I c, V colour) { \
    descriptor d = describe(image);                                        \
    store_texel_##name(d, c, write_texel_##suffix(d, colour));             \
  }
#define READ(image_t, name, I, R, suffix)                        \
  OVERLOAD R read_image##suffix(read_write image_t image, I c) { \
    descriptor d = describe(image);                              \
    return read_texel_##suffix(d, load_texel_##name(d, c));      \
  }
#define WRITES(access, image_t, name, I)                                \
  WRITE(access, image_t, name, I, float4, f)                            \
  WRITE(access, image_t, name, I, int4, i)                              \
  WRITE(access, image_t, name, I, uint4, ui)                            \
  OVERLOAD void write_imageh(access image_t image, I c, half4 colour) { \
    write_imagef(image, c, convert_float4(colour));                     \
  }
#define IMAGE(image_t, name, I)        \
  WRITES(write_only, image_t, name, I) \
  WRITES(read_write, image_t, name, I) \
  READ(image_t, name, I, float4, f)    \
  READ(image_t, name, I, int4, i)      \
  READ(image_t, name, I, uint4, ui)    \
  OVERLOAD half4 read_imageh(read_write image_t image, I c) { return convert_half4(read_imagef(image, c)); }
IMAGE(image1d_t, 1d, int)
IMAGE(image1d_buffer_t, 1d_buffer, int)
IMAGE(image1d_array_t, 1d_array, int2)
IMAGE(image2d_t, 2d, int2)
IMAGE(image2d_array_t, 2d_array, int4)
IMAGE(image3d_t, 3d, int4)

// Depth images have a single channel.
#define WRITE_DEPTH(access, image_t, name, I)                          \
  OVERLOAD void write_imagef(access image_t image, I c, float depth) { \
    descriptor d = describe(image);                                    \
    store_texel_##name(d, c, write_texel_f(d, (float4)depth));         \
  }
#define DEPTH_IMAGE(image_t, name, I)                         \
  WRITE_DEPTH(write_only, image_t, name, I)                   \
  WRITE_DEPTH(read_write, image_t, name, I)                   \
  OVERLOAD float read_imagef(read_write image_t image, I c) { \
    descriptor d = describe(image);                           \
    return read_texel_f(d, load_texel_##name(d, c)).x;        \
  }
DEPTH_IMAGE(image2d_depth_t, 2d, int2)
DEPTH_IMAGE(image2d_array_depth_t, 2d_array, int4)
