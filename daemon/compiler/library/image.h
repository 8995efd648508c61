// What image functions have in common: the descriptor behind an image, and the formats.
#ifndef CLIQUE_DAEMON_COMPILER_LIBRARY_IMAGE_H
#define CLIQUE_DAEMON_COMPILER_LIBRARY_IMAGE_H

#include "builtins.h"

#pragma OPENCL EXTENSION cl_khr_depth_images : enable
#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable

typedef const __global struct clique_image* descriptor;

// OpenCL C has no conversion of an image to what Clang makes of it, a pointer. A function that is declared
// with images and defined with pointers is one.
#define DESCRIBE_AS(access, image_t) \
  OVERLOAD descriptor describe(access image_t image) __asm("__clique_describe") __attribute__((const));
#define DESCRIBE(image_t)          \
  DESCRIBE_AS(read_only, image_t)  \
  DESCRIBE_AS(write_only, image_t) \
  DESCRIBE_AS(read_write, image_t)
DESCRIBE(image1d_t)
DESCRIBE(image1d_buffer_t)
DESCRIBE(image1d_array_t)
DESCRIBE(image2d_t)
DESCRIBE(image2d_array_t)
DESCRIBE(image2d_depth_t)
DESCRIBE(image2d_array_depth_t)
DESCRIBE(image3d_t)

#endif
