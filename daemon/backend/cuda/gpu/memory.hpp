#pragma once

#include <array>
#include <memory>

#include "daemon/backend/cuda/gpu/device.hpp"
#include "daemon/backend/cuda/gpu/pixel_format.hpp"
#include "daemon/backend/image_shape.hpp"

namespace clique::daemon::cuda {

/// The least multiple of `to` that is not below `size`.
constexpr std::size_t rounded(std::size_t size, std::size_t to) {
  return (size + to - 1) / to * to;
}

/// A GPU's memory, for one session. Any thread whose current context is the GPU's.
class DeviceMemory {
 public:
  explicit DeviceMemory(const Device& device);

  /// Does ahead what makes the first take() slow.
  void warm();
  /// At least `size` bytes, aligned to 256; nobody uses them any more when the last owner lets go.
  /// Throws ClError(CL_MEM_OBJECT_ALLOCATION_FAILURE).
  std::shared_ptr<const CUdeviceptr> take(std::uint64_t size);
  /// The same at this very address, for shared virtual memory. Throws
  /// ClError(CL_MEM_OBJECT_ALLOCATION_FAILURE) also where something is there already, or no memory can be.
  std::shared_ptr<const CUdeviceptr> take_at(CUdeviceptr address, std::uint64_t size) const;
  /// Gives what is kept for later back to the GPU.
  void trim();
  /// Copies to new memory, and waits until it is there.
  std::shared_ptr<const CUdeviceptr> copy_of(const void* data, std::size_t size);

 private:
  class Placed;
  void give_back(CUdeviceptr address) const;

  const CUdevice device_;
  std::size_t granularity_ = 0;  // of placed memory; 0: there can be none

  CUmemoryPool pool_ = nullptr;  // null where the GPU has none
  CUstream stream_ = nullptr;    // that allocations are ordered by: always waited for
};

/// A region of an image or of linear memory, for copies.
struct Place {
  CUarray array = nullptr;  ///< or null
  CUdeviceptr device = 0;   ///< or 0
  std::byte* host = nullptr;
  std::array<std::size_t, 3> origin{};  ///< x in bytes, y, z; layers of arrays are z
  std::size_t row_pitch = 0;            ///< bytes; not of arrays
  std::size_t slice_pitch = 0;
};

/// Puts a copy into the stream. `region`: x in bytes, y, z. Throws ClError.
void copy(const Place& from, const Place& to, const std::array<std::size_t, 3>& region, CUstream stream);

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
