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
  unsigned channels = 1;       ///< 1, 2 or 4; their order is the kernel's affair
  unsigned channel_size = 1;   ///< bytes
  bool integer = false;        ///< read as integers, without filtering
  bool srgb = false;           ///< the texture makes it linear
  bool opaque_border = false;  ///< outside, alpha is 1 (the format has none)

  unsigned element_size() const { return channels * channel_size; }
};

/// The format's representation; nothing where it is not supported.
std::optional<PixelFormat> pixel_format(cl_channel_order order, cl_channel_type type);

/// What clGetSupportedImageFormats answers, as pairs of order and type.
/// @param access CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY, CL_MEM_READ_WRITE or CL_MEM_KERNEL_READ_AND_WRITE
std::vector<std::array<std::uint32_t, 2>> supported_formats(cl_mem_flags access, cl_mem_object_type type);

/// A pixel of the format, from a colour as clEnqueueFillImage takes it (section 5.3.2): four floats, or four
/// integers for formats of integers, or one float for a depth image.
/// @returns the first element_size() bytes are the pixel.
std::array<std::uint8_t, 16> make_pixel(cl_channel_order order, cl_channel_type type,
                                        const std::array<std::uint8_t, 16>& color);

}  // namespace clique::daemon::cuda
