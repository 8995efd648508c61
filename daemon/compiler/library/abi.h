// The data structures that kernels and the worker share: descriptors of images, and the records of printf.
// The device library compiles this file as OpenCL C, the worker as C++. Both are little-endian.
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

// A sampler is a number that contains normalised coordinates (1 bit), addressing mode (3 bits) and filter (2
// bits), encoded as Clang encodes samplers that are defined in programs.
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
  // Number of texture objects of an image: one for each combination of the 5 addressing modes, 2 kinds of
  // coordinates and 2 filters.
  CLIQUE_IMAGE_TEXTURES = 20
};

// The index of an image's texture object for a sampler.
#define CLIQUE_TEXTURE_OF_SAMPLER(sampler)                                                           \
  (((sampler)&CLIQUE_SAMPLER_NORMALIZED) * 10 + (((sampler)&CLIQUE_SAMPLER_ADDRESS_MASK) >> 1) * 2 + \
   (((sampler)&CLIQUE_SAMPLER_FILTER_LINEAR) != 0))

// An image argument is the device address of one of these descriptors. It lies in global memory and does not
// change while kernels run.
struct clique_image {
  clique_u64 textures[CLIQUE_IMAGE_TEXTURES];  // CUtexObject, indexed by CLIQUE_TEXTURE_OF_SAMPLER
  clique_u64 surface;                          // CUsurfObject; 0 for an image in linear memory
  clique_u64 memory;        // address of linear memory (1D buffer images, 2D images over buffers); otherwise 0
  clique_u32 row_pitch;     // of linear memory, in bytes
  clique_u32 element_size;  // in bytes
  clique_u32 width, height, depth, layers;  // 1 for dimensions that the image type lacks
  clique_u32 channel_order, channel_type;   // cl_channel_order, cl_channel_type
};

// printf: the buffer begins with a clique_printf_buffer, followed by the records. A record consists of a
// clique_printf_record and the arguments, each at a multiple of 8 bytes: integers and pointers as 8 bytes,
// floating-point numbers as double, strings (%s with a constant) as the index of a string in the program, and
// vectors as one such value per component.
struct clique_printf_buffer {
  clique_u32 used;      // bytes that calls have asked for; more than `capacity` if some records did not fit
  clique_u32 capacity;  // bytes available for records
};
struct clique_printf_record {
  clique_u32 size;    // in bytes, including this header; a multiple of 8
  clique_u32 format;  // index of the format in the program
};

// What a launch may access, if its program checks that (passes/access_checks.hpp): a clique_access_checks,
// followed by the ranges.
struct clique_access_checks {
  clique_u32 found;   // how many accesses were outside of the ranges, modulo 2^32
  clique_u32 ranges;  // their number
  // The first access that was found, as in clique_expected_range.
  clique_u64 image;
  clique_u64 begin;
  clique_u32 size;    // in bytes
  clique_u32 writes;  // 1: it writes, 0: it reads
};
struct clique_expected_range {
  clique_u64 image;       // address of a clique_image; 0: the range is one of memory
  clique_u64 begin, end;  // addresses; of an image, offsets in its linear memory or in its pixels without gaps
  clique_u32 writes;      // 1: it may also be written
  clique_u32 reserved;    // 0
};

#endif
