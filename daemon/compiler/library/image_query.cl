// Image query functions (§6.15.15.6).
#include "image.h"

#define QUERY(access, image_t)                                                               \
  OVERLOAD int get_image_width(access image_t image) { return (int)describe(image)->width; } \
  OVERLOAD int get_image_channel_data_type(access image_t image) {                           \
    return (int)describe(image)->channel_type;                                               \
  }                                                                                          \
  OVERLOAD int get_image_channel_order(access image_t image) { return (int)describe(image)->channel_order; }

#define QUERY_2D(access, image_t)                                                              \
  QUERY(access, image_t)                                                                       \
  OVERLOAD int get_image_height(access image_t image) { return (int)describe(image)->height; } \
  OVERLOAD int2 get_image_dim(access image_t image) {                                          \
    return (int2)((int)describe(image)->width, (int)describe(image)->height);                  \
  }

#define QUERY_3D(access, image_t)                                                              \
  QUERY(access, image_t)                                                                       \
  OVERLOAD int get_image_height(access image_t image) { return (int)describe(image)->height; } \
  OVERLOAD int get_image_depth(access image_t image) { return (int)describe(image)->depth; }   \
  OVERLOAD int4 get_image_dim(access image_t image) {                                          \
    descriptor d = describe(image);                                                            \
    return (int4)((int)d->width, (int)d->height, (int)d->depth, 0);                            \
  }

#define QUERY_LAYERS(access, image_t) \
  OVERLOAD size_t get_image_array_size(access image_t image) { return describe(image)->layers; }

#define EACH_ACCESS(M, image_t) M(read_only, image_t) M(write_only, image_t) M(read_write, image_t)
EACH_ACCESS(QUERY, image1d_t)
EACH_ACCESS(QUERY, image1d_buffer_t)
EACH_ACCESS(QUERY, image1d_array_t)
EACH_ACCESS(QUERY_2D, image2d_t)
EACH_ACCESS(QUERY_2D, image2d_array_t)
EACH_ACCESS(QUERY_2D, image2d_depth_t)
EACH_ACCESS(QUERY_2D, image2d_array_depth_t)
EACH_ACCESS(QUERY_3D, image3d_t)
EACH_ACCESS(QUERY_LAYERS, image1d_array_t)
EACH_ACCESS(QUERY_LAYERS, image2d_array_t)
EACH_ACCESS(QUERY_LAYERS, image2d_array_depth_t)
