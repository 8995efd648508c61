// What all image functions need: the descriptor of an image.
#ifndef CLIQUE_DAEMON_COMPILER_LIBRARY_IMAGE_H
#define CLIQUE_DAEMON_COMPILER_LIBRARY_IMAGE_H

#include "builtins.h"

#pragma OPENCL EXTENSION cl_khr_depth_images : enable
#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable

typedef const __global struct clique_image* descriptor;

// Clang represents an image as a pointer, but OpenCL C has no conversion from one to the other. describe()
// converts: it is declared with an image parameter here and defined with a pointer in image_descriptor.cl.
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
