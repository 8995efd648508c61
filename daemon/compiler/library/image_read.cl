// Image read functions with and without samplers, for read-only images (§6.15.15.2, §6.15.15.3). They use the
// texture object that has the sampler's properties.
#include "image_format.h"
#include "image_memory.h"

uint sampler_bits(sampler_t sampler) __asm("__clique_sampler_bits") __attribute__((const));

static ulong texture_of(descriptor d, sampler_t sampler) {
  return d->textures[CLIQUE_TEXTURE_OF_SAMPLER(sampler_bits(sampler))];
}

// The texture object for reads without a sampler: nearest filter, unnormalised coordinates, no addressing
// mode.
static ulong plain_texture(descriptor d) { return d->textures[0]; }

// ---- The instructions, for each geometry of an image, type of result and type of coordinates

#define TEXTURE_RESULTS(M, ...)          \
  M(float4, f, "f32", "=f", __VA_ARGS__) \
  M(int4, i, "s32", "=r", __VA_ARGS__)   \
  M(uint4, ui, "u32", "=r", __VA_ARGS__)

#define TEX(R, suffix, ptx, out, name, geometry, C, c_ptx, coordinates, parameters, ...)     \
  OVERLOAD static R tex_##name##_##suffix parameters {                                       \
    R texel;                                                                                 \
    __asm__("tex." geometry ".v4." ptx "." c_ptx " {%0, %1, %2, %3}, [%4, " coordinates "];" \
            : out(texel.x), out(texel.y), out(texel.z), out(texel.w)                         \
            : "l"(texture), __VA_ARGS__);                                                    \
    return texel;                                                                            \
  }
#define PARAMETERS(...) (ulong texture, __VA_ARGS__)
// clang-format off
#define TEXTURE_COORDINATES(C, c_ptx, in) \
  TEXTURE_RESULTS(TEX, 1d, "1d", C, c_ptx, "{%5}", PARAMETERS(C x), in(x)) \
  TEXTURE_RESULTS(TEX, 2d, "2d", C, c_ptx, "{%5, %6}", PARAMETERS(C x, C y), in(x), in(y)) \
  TEXTURE_RESULTS(TEX, 3d, "3d", C, c_ptx, "{%5, %6, %7, %7}", PARAMETERS(C x, C y, C z), in(x), in(y), in(z)) \
  TEXTURE_RESULTS(TEX, 1d_array, "a1d", C, c_ptx, "{%5, %6}", PARAMETERS(int layer, C x), "r"(layer), in(x)) \
  TEXTURE_RESULTS(TEX, 2d_array, "a2d", C, c_ptx, "{%5, %6, %7, %7}", PARAMETERS(int layer, C x, C y), "r"(layer), \
                  in(x), in(y))
// clang-format on
TEXTURE_COORDINATES(float, "f32", "f")
TEXTURE_COORDINATES(int, "s32", "r")

// ---- Converting the coordinates of programs to those of the instructions

OVERLOAD static int layer_of(descriptor d, int layer) { return clamp(layer, 0, (int)d->layers - 1); }
OVERLOAD static int layer_of(descriptor d, float layer) { return layer_of(d, convert_int_rte(layer)); }

#define POSITION_1d(c) c
#define POSITION_2d(c) c.x, c.y
#define POSITION_3d(c) c.x, c.y, c.z
#define POSITION_1d_array(c) layer_of(d, c.y), c.x
#define POSITION_2d_array(c) layer_of(d, c.z), c.x, c.y

// Integer coordinates with a sampler. PTX does not guarantee that the addressing mode applies to integers, so
// they are converted to the coordinates of the texel's centre.
#define CENTRE_1d(c) (float)c + 0.5f
#define CENTRE_2d(c) (float)c.x + 0.5f, (float)c.y + 0.5f
#define CENTRE_3d(c) (float)c.x + 0.5f, (float)c.y + 0.5f, (float)c.z + 0.5f
#define CENTRE_1d_array(c) layer_of(d, c.y), (float)c.x + 0.5f
#define CENTRE_2d_array(c) layer_of(d, c.z), (float)c.x + 0.5f, (float)c.y + 0.5f

// Integer coordinates without a sampler. In one dimension, the instruction would take integers for positions
// in linear memory, where these images do not lie.
#define TEXEL_1d(c) CENTRE_1d(c)
#define TEXEL_2d(c) POSITION_2d(c)
#define TEXEL_3d(c) POSITION_3d(c)
#define TEXEL_1d_array(c) POSITION_1d_array(c)
#define TEXEL_2d_array(c) POSITION_2d_array(c)

// ---- The functions

#define READ(image_t, name, I, F, R, suffix, result)                                  \
  OVERLOAD R read_image##suffix(read_only image_t image, sampler_t sampler, F c) {    \
    descriptor d = describe(image);                                                   \
    return result(tex_##name##_##suffix(texture_of(d, sampler), POSITION_##name(c))); \
  }                                                                                   \
  OVERLOAD R read_image##suffix(read_only image_t image, sampler_t sampler, I c) {    \
    descriptor d = describe(image);                                                   \
    return result(tex_##name##_##suffix(texture_of(d, sampler), CENTRE_##name(c)));   \
  }                                                                                   \
  OVERLOAD R read_image##suffix(read_only image_t image, I c) {                       \
    descriptor d = describe(image);                                                   \
    return result(tex_##name##_##suffix(plain_texture(d), TEXEL_##name(c)));          \
  }
#define READ_HALF(image_t, I, F)                                                \
  OVERLOAD half4 read_imageh(read_only image_t image, sampler_t sampler, F c) { \
    return convert_half4(read_imagef(image, sampler, c));                       \
  }                                                                             \
  OVERLOAD half4 read_imageh(read_only image_t image, sampler_t sampler, I c) { \
    return convert_half4(read_imagef(image, sampler, c));                       \
  }                                                                             \
  OVERLOAD half4 read_imageh(read_only image_t image, I c) { return convert_half4(read_imagef(image, c)); }
#define ORDERED(texel) colour(d->channel_order, texel)
#define DEPTH(texel) (texel).x
#define READS(image_t, name, I, F)              \
  READ(image_t, name, I, F, float4, f, ORDERED) \
  READ(image_t, name, I, F, int4, i, ORDERED)   \
  READ(image_t, name, I, F, uint4, ui, ORDERED) \
  READ_HALF(image_t, I, F)
READS(image1d_t, 1d, int, float)
READS(image1d_array_t, 1d_array, int2, float2)
READS(image2d_t, 2d, int2, float2)
READS(image2d_array_t, 2d_array, int4, float4)
READS(image3d_t, 3d, int4, float4)
READ(image2d_depth_t, 2d, int2, float2, float, f, DEPTH)
READ(image2d_array_depth_t, 2d_array, int4, float4, float, f, DEPTH)

// An image buffer has no texture object if its address is not suitable for one.
#define READ_BUFFER(R, suffix)                                             \
  OVERLOAD R read_image##suffix(read_only image1d_buffer_t image, int c) { \
    descriptor d = describe(image);                                        \
    ulong texture = plain_texture(d);                                      \
    if (texture == 0) return read_texel_##suffix(d, load_memory(d, c, 0)); \
    return ORDERED(tex_1d_##suffix(texture, c));                           \
  }
READ_BUFFER(float4, f)
READ_BUFFER(int4, i)
READ_BUFFER(uint4, ui)
OVERLOAD half4 read_imageh(read_only image1d_buffer_t image, int c) {
  return convert_half4(read_imagef(image, c));
}
