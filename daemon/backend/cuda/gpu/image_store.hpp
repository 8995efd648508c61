#pragma once

#include <array>
#include <memory>

#include "daemon/backend/cuda/gpu/copy.hpp"
#include "daemon/backend/cuda/gpu/memory.hpp"
#include "daemon/backend/cuda/gpu/pixel_format.hpp"
#include "protocol/image_shape.hpp"

namespace clique::daemon::cuda {

/// What an image is to be.
struct ImageRequest {
  cl_mem_object_type type = 0;
  cl_channel_order order = 0;
  cl_channel_type channel_type = 0;
  std::size_t width = 1, height = 1, depth = 1;  ///< 1 in dimensions that the type does not have
  std::size_t layers = 1;
  CUdeviceptr memory = 0;  ///< of an image over a buffer; else 0
  std::size_t row_pitch = 0;
};

/// The error for an image of a format that pixel_format() does not know.
ClError unsupported_format(const ImageRequest& request);

/// The pixels of an image, and what kernels need to access them. Its destructor frees both.
class ImageStore {
 public:
  /// Throws ClError.
  ImageStore(DeviceMemory& memory, const ImageRequest& request);
  ~ImageStore();
  ImageStore(const ImageStore&) = delete;
  ImageStore& operator=(const ImageStore&) = delete;

  /// Address of the image's clique_image on the device. The first call makes it with the surface and the
  /// textures: making those takes longer than all else, and only kernels need them. Main thread. Throws
  /// ClError.
  CUdeviceptr descriptor();
  const PixelFormat& format() const { return format_; }
  const ImageRequest& request() const { return request_; }
  protocol::ImageShape shape() const;

  /// Where a region with this origin begins, in OpenCL's sense.
  Place place(const std::array<std::size_t, 3>& origin) const;
  /// The size of a region in OpenCL's sense, for copy().
  std::array<std::size_t, 3> region(const std::array<std::size_t, 3>& region) const;
  /// Host or linear device memory that holds the region without gaps. One of `host` and `device` is not 0.
  Place dense(std::byte* host, CUdeviceptr device, const std::array<std::size_t, 3>& region) const;

 private:
  void make_array();
  void make_textures();
  void destroy_textures();

  DeviceMemory& memory_;
  const ImageRequest request_;
  const PixelFormat format_;
  CUarray array_ = nullptr;
  CUsurfObject surface_ = 0;
  std::array<CUtexObject, 20> textures_{};
  std::shared_ptr<const CUdeviceptr> descriptor_;
};

}  // namespace clique::daemon::cuda
