#pragma once

#include <array>
#include <memory>

#include "daemon/backend/common/image_shape.hpp"
#include "daemon/backend/cuda/gpu/copy.hpp"
#include "daemon/backend/cuda/gpu/memory.hpp"
#include "daemon/backend/cuda/gpu/pixel_format.hpp"

namespace clique::daemon::cuda {

/// What is asked of an image.
struct ImageRequest {
  cl_mem_object_type type = 0;
  cl_channel_order order = 0;
  cl_channel_type channel_type = 0;
  std::size_t width = 1, height = 1, depth = 1;  ///< 1 where the type has none
  std::size_t layers = 1;
  CUdeviceptr memory = 0;  ///< of an image over a buffer, else 0
  std::size_t row_pitch = 0;
};

/// An image's pixels with all that kernels need for them. Its destructor frees them.
class ImageStore {
 public:
  /// Throws ClError.
  ImageStore(DeviceMemory& memory, const ImageRequest& request);
  ~ImageStore();
  ImageStore(const ImageStore&) = delete;
  ImageStore& operator=(const ImageStore&) = delete;

  /// Device address of the clique_image, which is made when it is first asked for, with surface and textures:
  /// they take longer than all else, and only kernels need them. Main thread. Throws ClError.
  CUdeviceptr descriptor();
  const PixelFormat& format() const { return format_; }
  const ImageRequest& request() const { return request_; }
  ImageShape shape() const;

  /// Where a region begins that OpenCL says is at `origin`, and its size in bytes, rows and slices.
  Place place(const std::array<std::size_t, 3>& origin) const;
  std::array<std::size_t, 3> region(const std::array<std::size_t, 3>& region) const;
  /// Host or linear memory that holds the region without gaps.
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
