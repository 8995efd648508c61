// What kernels and the worker both know: how images are described, and what printf leaves behind.
// Compiled as OpenCL C by the device library and as C++ by the worker; both are little-endian.
#ifndef CLIQUE_DAEMON_COMPILER_LIBRARY_ABI_H
#define CLIQUE_DAEMON_COMPILER_LIBRARY_ABI_H

#ifdef __OPENCL_C_VERSION__
typedef uint clique_u32;
typedef ulong clique_u64;
#else
#include <cstdint>
using clique_u32 = std::uint32_t;
using clique_u64 = std::uint64_t;
#endif

// A sampler is a number: normalised coordinates (1 bit), addressing (3 bits), filter (2 bits), as Clang
// encodes the samplers that are written in kernels.
enum {
  CLIQUE_SAMPLER_NORMALIZED = 1,
  CLIQUE_SAMPLER_ADDRESS_NONE = 0,
  CLIQUE_SAMPLER_ADDRESS_CLAMP_TO_EDGE = 2,
  CLIQUE_SAMPLER_ADDRESS_CLAMP = 4,
  CLIQUE_SAMPLER_ADDRESS_REPEAT = 6,
  CLIQUE_SAMPLER_ADDRESS_MIRRORED_REPEAT = 8,
  CLIQUE_SAMPLER_ADDRESS_MASK = 0xE,
  CLIQUE_SAMPLER_FILTER_NEAREST = 0x10,
  CLIQUE_SAMPLER_FILTER_LINEAR = 0x20,
  // Texture objects of an image: one for each of the 5 addressing modes, with both kinds of coordinates and
  // filters.
  CLIQUE_IMAGE_TEXTURES = 20
};

// Which of an image's textures serves a sampler.
#define CLIQUE_TEXTURE_OF_SAMPLER(sampler)                                                           \
  (((sampler)&CLIQUE_SAMPLER_NORMALIZED) * 10 + (((sampler)&CLIQUE_SAMPLER_ADDRESS_MASK) >> 1) * 2 + \
   (((sampler)&CLIQUE_SAMPLER_FILTER_LINEAR) != 0))

// An image argument is the device address of one of these, in global memory, which does not change while
// kernels run.
struct clique_image {
  clique_u64 textures[CLIQUE_IMAGE_TEXTURES];  // CUtexObject by CLIQUE_TEXTURE_OF_SAMPLER
  clique_u64 surface;                          // CUsurfObject; 0 where the image lies in linear memory
  clique_u64 memory;        // address of linear memory (1D buffer images, 2D images over buffers), else 0
  clique_u32 row_pitch;     // of linear memory, bytes
  clique_u32 element_size;  // bytes
  clique_u32 width, height, depth, layers;  // 1 where the type has none
  clique_u32 channel_order, channel_type;   // cl_channel_order, cl_channel_type
};

// printf: the buffer begins with this, records follow. A record is its size in bytes with this header (a
// multiple of 8), the index of its format in the program, then the arguments, each at a multiple of 8:
// integers and pointers as 8 bytes, floating-point numbers as double, strings (%s of a constant) as the index
// of a string in the program, vectors one element after the other in the same way.
struct clique_printf_buffer {
  clique_u32 used;      // bytes of records asked for; more than `capacity` where some did not fit
  clique_u32 capacity;  // bytes of records that fit
};
struct clique_printf_record {
  clique_u32 size;
  clique_u32 format;
};

#endif
