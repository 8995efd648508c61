// Copies, fills, and arrays with what reads them.
#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "memory.hpp"
#include "streams.hpp"

using namespace fake_cuda;

namespace {

struct Array {
  std::size_t row, height, depth;
  std::vector<unsigned char> bytes;
};

/// Puts a copy into the stream. As the real driver says of its calls, one within host memory is over when the
/// call returns.
CUresult put_copy(CUstream stream, bool within_host, std::function<void()> what) {
  const CUresult result = stream->put(std::move(what));
  return result != CUDA_SUCCESS || !within_host || stream->captured ? result : cuStreamSynchronize(stream);
}

/// The source or the destination of a copy, with its pitches.
struct Side {
  unsigned char* base;
  std::size_t pitch, slice;
  bool device;
};

Side side(CUmemorytype type, const void* host, CUdeviceptr device, CUarray array, std::size_t pitch,
          std::size_t height) {
  if (type == CU_MEMORYTYPE_ARRAY) {
    auto* known = reinterpret_cast<Array*>(array);
    return {known->bytes.data(), known->row, known->row * known->height, false};
  }
  auto* base = type == CU_MEMORYTYPE_HOST ? static_cast<unsigned char*>(const_cast<void*>(host))
                                          : reinterpret_cast<unsigned char*>(device);
  return {base, pitch, pitch * height, type == CU_MEMORYTYPE_DEVICE};
}

bool fits(CUmemorytype type, CUarray array, std::size_t x, std::size_t y, std::size_t z,
          const CUDA_MEMCPY3D& copy) {
  if (type != CU_MEMORYTYPE_ARRAY) return true;
  const auto* known = reinterpret_cast<const Array*>(array);
  return x + copy.WidthInBytes <= known->row && y + copy.Height <= known->height &&
         z + copy.Depth <= known->depth;
}

template <typename T>
CUresult set(CUdeviceptr to, T value, std::size_t count, CUstream stream) {
  if (to % sizeof(T) != 0) return CUDA_ERROR_INVALID_VALUE;
  return stream->put([=] {
    if (memory.owns(to, count * sizeof(T))) std::fill_n(reinterpret_cast<T*>(to), count, value);
  });
}

}  // namespace

EXPORT cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t size, CUstream stream) {
  return put_copy(stream, memory.is_registered(to), [=] {
    if (memory.owns(to, size)) std::memcpy(reinterpret_cast<void*>(to), from, size);
  });
}
EXPORT cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t size, CUstream stream) {
  return put_copy(stream, memory.is_registered(from), [=] {
    if (memory.owns(from, size)) std::memcpy(to, reinterpret_cast<const void*>(from), size);
  });
}
EXPORT cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t size, CUstream stream) {
  return put_copy(stream, memory.is_registered(to) && memory.is_registered(from), [=] {
    if (memory.owns(from, size) && memory.owns(to, size))
      std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), size);
  });
}

EXPORT cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* given, CUstream stream) {
  const CUDA_MEMCPY3D copy = *given;
  const bool right = fits(copy.srcMemoryType, copy.srcArray, copy.srcXInBytes, copy.srcY, copy.srcZ, copy) &&
                     fits(copy.dstMemoryType, copy.dstArray, copy.dstXInBytes, copy.dstY, copy.dstZ, copy) &&
                     (copy.srcMemoryType == CU_MEMORYTYPE_ARRAY || copy.Height * copy.Depth == 1 ||
                      copy.srcPitch >= copy.srcXInBytes + copy.WidthInBytes) &&
                     (copy.dstMemoryType == CU_MEMORYTYPE_ARRAY || copy.Height * copy.Depth == 1 ||
                      copy.dstPitch >= copy.dstXInBytes + copy.WidthInBytes) &&
                     (copy.srcMemoryType == CU_MEMORYTYPE_ARRAY || copy.Depth == 1 ||
                      copy.srcHeight >= copy.srcY + copy.Height) &&
                     (copy.dstMemoryType == CU_MEMORYTYPE_ARRAY || copy.Depth == 1 ||
                      copy.dstHeight >= copy.dstY + copy.Height);
  if (!right) return CUDA_ERROR_INVALID_VALUE;
  return stream->put([copy] {
    const Side from =
        side(copy.srcMemoryType, copy.srcHost, copy.srcDevice, copy.srcArray, copy.srcPitch, copy.srcHeight);
    const Side to =
        side(copy.dstMemoryType, copy.dstHost, copy.dstDevice, copy.dstArray, copy.dstPitch, copy.dstHeight);
    for (std::size_t z = 0; z < copy.Depth; ++z)
      for (std::size_t y = 0; y < copy.Height; ++y) {
        unsigned char* source =
            from.base + (copy.srcZ + z) * from.slice + (copy.srcY + y) * from.pitch + copy.srcXInBytes;
        unsigned char* target =
            to.base + (copy.dstZ + z) * to.slice + (copy.dstY + y) * to.pitch + copy.dstXInBytes;
        if ((!from.device || memory.owns(reinterpret_cast<CUdeviceptr>(source), copy.WidthInBytes)) &&
            (!to.device || memory.owns(reinterpret_cast<CUdeviceptr>(target), copy.WidthInBytes)))
          std::memcpy(target, source, copy.WidthInBytes);
      }
  });
}

EXPORT cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count, CUstream stream) {
  return set(to, value, count, stream);
}
EXPORT cuMemsetD16Async(CUdeviceptr to, unsigned short value, std::size_t count, CUstream stream) {
  return set(to, value, count, stream);
}
EXPORT cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t count, CUstream stream) {
  return set(to, value, count, stream);
}

EXPORT cuArray3DCreate_v2(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* description) {
  std::size_t channel = 4;
  if (description->Format == CU_AD_FORMAT_UNSIGNED_INT8 || description->Format == CU_AD_FORMAT_SIGNED_INT8)
    channel = 1;
  if (description->Format == CU_AD_FORMAT_UNSIGNED_INT16 ||
      description->Format == CU_AD_FORMAT_SIGNED_INT16 || description->Format == CU_AD_FORMAT_HALF)
    channel = 2;
  auto* made = new Array{description->Width * channel * description->NumChannels,
                         std::max<std::size_t>(1, description->Height),
                         std::max<std::size_t>(1, description->Depth),
                         {}};
  made->bytes.resize(made->row * made->height * made->depth);
  *array = reinterpret_cast<CUarray>(made);
  return CUDA_SUCCESS;
}
EXPORT cuArrayDestroy(CUarray array) {
  // As on a GPU, this waits for all work.
  for (CUstream stream : streams.all()) cuStreamSynchronize(stream);
  delete reinterpret_cast<Array*>(array);
  return CUDA_SUCCESS;
}
EXPORT cuTexObjectCreate(CUtexObject* texture, const CUDA_RESOURCE_DESC* /*resource*/,
                         const CUDA_TEXTURE_DESC* /*description*/, const CUDA_RESOURCE_VIEW_DESC* /*view*/) {
  *texture = 1;
  return CUDA_SUCCESS;
}
EXPORT cuTexObjectDestroy(CUtexObject /*texture*/) {
  return CUDA_SUCCESS;
}
EXPORT cuSurfObjectCreate(CUsurfObject* surface, const CUDA_RESOURCE_DESC* /*resource*/) {
  *surface = 1;
  return CUDA_SUCCESS;
}
EXPORT cuSurfObjectDestroy(CUsurfObject /*surface*/) {
  return CUDA_SUCCESS;
}
