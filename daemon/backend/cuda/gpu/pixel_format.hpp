#pragma once

#include <CL/cl.h>
#include <cuda.h>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace clique::daemon::cuda {

/// How the pixels of an OpenCL format are kept in CUDA arrays and textures.
struct PixelFormat {
  CUarray_format format = CU_AD_FORMAT_UNSIGNED_INT8;
  unsigned channels = 1;       ///< 1, 2 or 4; kernels put them into OpenCL's order
  unsigned channel_size = 1;   ///< bytes
  bool integer = false;        ///< whether they are read as integers, without filtering
  bool srgb = false;           ///< whether the texture converts sRGB to linear values
  bool opaque_border = false;  ///< whether alpha is 1 outside of the image, since the format has none

  unsigned element_size() const { return channels * channel_size; }
};

/// How a format is kept; nothing if it is not supported.
std::optional<PixelFormat> pixel_format(cl_channel_order order, cl_channel_type type);

/// What clGetSupportedImageFormats answers, as pairs of order and type.
/// @param access CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY, CL_MEM_READ_WRITE or CL_MEM_KERNEL_READ_AND_WRITE
std::vector<std::array<std::uint32_t, 2>> supported_formats(cl_mem_flags access, cl_mem_object_type type);

/// The pixel for a fill colour of clEnqueueFillImage (section 5.3.2).
/// @param color four floats, or four integers for integer formats, or one float for a depth image
/// @returns the pixel in the first element_size() bytes.
std::array<std::uint8_t, 16> make_pixel(cl_channel_order order, cl_channel_type type,
                                        const std::array<std::uint8_t, 16>& color);

}  // namespace clique::daemon::cuda
