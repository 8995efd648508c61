#include "daemon/backend/cuda/gpu/image_store.hpp"

#include <algorithm>
#include <utility>

#include "daemon/backend/cuda/gpu/room.hpp"
#include "daemon/compiler/library/abi.h"

namespace clique::daemon::cuda {

ClError unsupported_format(const ImageRequest& request) {
  return {CL_IMAGE_FORMAT_NOT_SUPPORTED, "images of channel order " + std::to_string(request.order) +
                                             " and channel type " + std::to_string(request.channel_type) +
                                             " are not supported"};
}

namespace {

PixelFormat require_format(const ImageRequest& request) {
  const auto format = pixel_format(request.order, request.channel_type);
  if (!format) throw unsupported_format(request);
  return *format;
}

/// Alignment in bytes and size in pixels that every GPU allows for a texture of linear memory.
constexpr CUdeviceptr kLinearAlignment = 512;
constexpr std::size_t kMostLinear = std::size_t{1} << 27U;

constexpr unsigned kAddressings[] = {CLIQUE_SAMPLER_ADDRESS_NONE, CLIQUE_SAMPLER_ADDRESS_CLAMP_TO_EDGE,
                                     CLIQUE_SAMPLER_ADDRESS_CLAMP, CLIQUE_SAMPLER_ADDRESS_REPEAT,
                                     CLIQUE_SAMPLER_ADDRESS_MIRRORED_REPEAT};

CUaddress_mode address_mode(unsigned addressing) {
  switch (addressing) {
    case CLIQUE_SAMPLER_ADDRESS_CLAMP:
      return CU_TR_ADDRESS_MODE_BORDER;
    case CLIQUE_SAMPLER_ADDRESS_REPEAT:
      return CU_TR_ADDRESS_MODE_WRAP;
    case CLIQUE_SAMPLER_ADDRESS_MIRRORED_REPEAT:
      return CU_TR_ADDRESS_MODE_MIRROR;
    default:
      return CU_TR_ADDRESS_MODE_CLAMP;
  }
}

}  // namespace

ImageStore::ImageStore(DeviceMemory& memory, const ImageRequest& request)
    : memory_(memory), request_(request), format_(require_format(request)) {
  if (request.memory == 0) make_array();
}

ImageStore::~ImageStore() {
  destroy_textures();
  if (array_ != nullptr) static_cast<void>(driver().ArrayDestroy(array_));
}

CUdeviceptr ImageStore::descriptor() {
  if (descriptor_) return *descriptor_;
  clique_image image{};
  image.element_size = format_.element_size();
  image.width = static_cast<clique_u32>(request_.width);
  image.height = static_cast<clique_u32>(request_.height);
  image.depth = static_cast<clique_u32>(request_.depth);
  image.layers = static_cast<clique_u32>(request_.layers);
  image.channel_order = request_.order;
  image.channel_type = request_.channel_type;
  image.memory = request_.memory;
  image.row_pitch = static_cast<clique_u32>(request_.row_pitch);
  try {
    make_textures();
    std::copy(textures_.begin(), textures_.end(), image.textures);
    image.surface = surface_;
    descriptor_ = memory_.copy_of(&image, sizeof image);
  } catch (...) {
    destroy_textures();
    throw;
  }
  return *descriptor_;
}

void ImageStore::destroy_textures() {
  for (CUtexObject& texture : textures_)
    if (texture != 0) static_cast<void>(driver().TexObjectDestroy(std::exchange(texture, 0)));
  if (surface_ != 0) static_cast<void>(driver().SurfObjectDestroy(std::exchange(surface_, 0)));
}

void ImageStore::make_array() {
  CUDA_ARRAY3D_DESCRIPTOR description{};
  description.Width = request_.width;
  description.Format = format_.format;
  description.NumChannels = format_.channels;
  description.Flags = CUDA_ARRAY3D_SURFACE_LDST;
  switch (request_.type) {
    case CL_MEM_OBJECT_IMAGE1D_ARRAY:
      description.Depth = request_.layers;
      description.Flags |= CUDA_ARRAY3D_LAYERED;
      break;
    case CL_MEM_OBJECT_IMAGE2D:
      description.Height = request_.height;
      break;
    case CL_MEM_OBJECT_IMAGE2D_ARRAY:
      description.Height = request_.height;
      description.Depth = request_.layers;
      description.Flags |= CUDA_ARRAY3D_LAYERED;
      break;
    case CL_MEM_OBJECT_IMAGE3D:
      description.Height = request_.height;
      description.Depth = request_.depth;
      break;
    default:
      break;
  }
  CUresult result = driver().Array3DCreate(&array_, &description);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    memory_.trim();
    result = when_there_is_room([&] { return driver().Array3DCreate(&array_, &description); });
  }
  check(result, "cuArray3DCreate");
}

void ImageStore::make_textures() {
  CUDA_RESOURCE_DESC resource{};
  if (request_.type == CL_MEM_OBJECT_IMAGE1D_BUFFER) {
    // Such images have no samplers. If the memory cannot be a texture, kernels read it directly.
    if (request_.memory % kLinearAlignment != 0 || request_.width > kMostLinear) return;
    resource.resType = CU_RESOURCE_TYPE_LINEAR;
    resource.res.linear.devPtr = request_.memory;
    resource.res.linear.format = format_.format;
    resource.res.linear.numChannels = format_.channels;
    resource.res.linear.sizeInBytes = request_.width * format_.element_size();
    CUDA_TEXTURE_DESC description{};
    description.flags = format_.integer ? CU_TRSF_READ_AS_INTEGER : 0;
    CLIQUE_CUDA(TexObjectCreate(&textures_[0], &resource, &description, nullptr));
    return;
  }
  if (array_ != nullptr) {
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array_;
    CLIQUE_CUDA(SurfObjectCreate(&surface_, &resource));
  } else {
    resource.resType = CU_RESOURCE_TYPE_PITCH2D;
    resource.res.pitch2D.devPtr = request_.memory;
    resource.res.pitch2D.format = format_.format;
    resource.res.pitch2D.numChannels = format_.channels;
    resource.res.pitch2D.width = request_.width;
    resource.res.pitch2D.height = request_.height;
    resource.res.pitch2D.pitchInBytes = request_.row_pitch;
  }
  const bool line = request_.type == CL_MEM_OBJECT_IMAGE1D || request_.type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
  const int dimensions = line ? 1 : request_.type == CL_MEM_OBJECT_IMAGE3D ? 3 : 2;
  for (const unsigned addressing : kAddressings) {
    for (const unsigned normalized : {0U, unsigned{CLIQUE_SAMPLER_NORMALIZED}}) {
      for (const unsigned filter : {CLIQUE_SAMPLER_FILTER_NEAREST, CLIQUE_SAMPLER_FILTER_LINEAR}) {
        const bool repeats = addressing == CLIQUE_SAMPLER_ADDRESS_REPEAT ||
                             addressing == CLIQUE_SAMPLER_ADDRESS_MIRRORED_REPEAT;
        // Section 6.15.15.3: repeating is undefined without normalised coordinates, and integers are not
        // filtered.
        if ((repeats && normalized == 0) || (format_.integer && filter == CLIQUE_SAMPLER_FILTER_LINEAR))
          continue;
        CUDA_TEXTURE_DESC description{};
        // The hardware evaluates a second coordinate even for one dimension, so that must never be outside.
        std::fill_n(description.addressMode, 3, CU_TR_ADDRESS_MODE_CLAMP);
        std::fill_n(description.addressMode, dimensions, address_mode(addressing));
        description.filterMode =
            filter == CLIQUE_SAMPLER_FILTER_LINEAR ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
        description.flags = (normalized != 0 ? CU_TRSF_NORMALIZED_COORDINATES : 0) |
                            (format_.integer ? CU_TRSF_READ_AS_INTEGER : 0) |
                            (format_.srgb ? CU_TRSF_SRGB : 0);
        if (format_.opaque_border) description.borderColor[3] = 1;
        const unsigned sampler = addressing | normalized | static_cast<unsigned>(filter);
        CLIQUE_CUDA(TexObjectCreate(&textures_[CLIQUE_TEXTURE_OF_SAMPLER(sampler)], &resource, &description,
                                    nullptr));
      }
    }
  }
}

protocol::ImageShape ImageStore::shape() const {
  protocol::ImageShape shape;
  shape.element_size = format_.element_size();
  shape.extent = {request_.width, request_.height, request_.depth};
  if (request_.type == CL_MEM_OBJECT_IMAGE1D_ARRAY) shape.extent[1] = request_.layers;
  if (request_.type == CL_MEM_OBJECT_IMAGE2D_ARRAY) shape.extent[2] = request_.layers;
  return shape;
}

std::array<std::size_t, 3> ImageStore::region(const std::array<std::size_t, 3>& region) const {
  const std::size_t row = region[0] * format_.element_size();
  // In CUDA, layers are always the third dimension.
  if (request_.type == CL_MEM_OBJECT_IMAGE1D_ARRAY) return {row, 1, region[1]};
  return {row, region[1], region[2]};
}

Place ImageStore::place(const std::array<std::size_t, 3>& origin) const {
  Place place;
  place.array = array_;
  place.device = array_ == nullptr ? request_.memory : 0;
  place.origin = region(origin);
  if (request_.type == CL_MEM_OBJECT_IMAGE1D_ARRAY) place.origin[1] = 0;
  if (array_ == nullptr) {
    place.row_pitch = request_.row_pitch != 0 ? request_.row_pitch : request_.width * format_.element_size();
    place.slice_pitch = place.row_pitch * request_.height;
  }
  return place;
}

Place ImageStore::dense(std::byte* host, CUdeviceptr device, const std::array<std::size_t, 3>& region) const {
  const auto native = this->region(region);
  Place place;
  place.host = host;
  place.device = device;
  place.row_pitch = native[0];
  place.slice_pitch = native[0] * native[1];
  return place;
}

}  // namespace clique::daemon::cuda
