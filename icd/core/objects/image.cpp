#include "icd/core/objects/image.hpp"

#include <algorithm>
#include <utility>

#include "icd/core/objects/context.hpp"
#include "icd/core/workers/worker.hpp"
#include "icd/remote/link/link.hpp"
#include "protocol/batch.hpp"
#include "protocol/messages.hpp"

namespace clique::icd {

std::size_t channel_count(cl_channel_order order) {
  switch (order) {
    case CL_R:
    case CL_A:
    case CL_INTENSITY:
    case CL_LUMINANCE:
    case CL_DEPTH:
    case CL_Rx:
      return 1;
    case CL_RG:
    case CL_RA:
    case CL_RGx:
      return 2;
    case CL_RGB:
    case CL_RGBx:
    case CL_sRGB:
    case CL_sRGBx:
      return order == CL_RGBx || order == CL_sRGBx ? 4 : 3;
    case CL_RGBA:
    case CL_BGRA:
    case CL_ARGB:
    case CL_ABGR:
    case CL_sRGBA:
    case CL_sBGRA:
      return 4;
    default:
      return 0;
  }
}

std::size_t element_size(const cl_image_format& format) {
  const std::size_t channels = channel_count(format.image_channel_order);
  switch (format.image_channel_data_type) {
    case CL_SNORM_INT8:
    case CL_UNORM_INT8:
    case CL_SIGNED_INT8:
    case CL_UNSIGNED_INT8:
      return channels;
    case CL_SNORM_INT16:
    case CL_UNORM_INT16:
    case CL_SIGNED_INT16:
    case CL_UNSIGNED_INT16:
    case CL_HALF_FLOAT:
      return channels * 2;
    case CL_SIGNED_INT32:
    case CL_UNSIGNED_INT32:
    case CL_FLOAT:
      return channels * 4;
    case CL_UNORM_SHORT_565:
    case CL_UNORM_SHORT_555:
      return channels == 0 ? 0 : 2;
    case CL_UNORM_INT_101010:
    case CL_UNORM_INT_101010_2:
      return channels == 0 ? 0 : 4;
    default:
      return 0;
  }
}

namespace {

/// Array layers count as the dimension after the image's own. Dimensions that the type lacks are 1.
protocol::Triple extent_of(const cl_image_desc& desc) {
  switch (desc.image_type) {
    case CL_MEM_OBJECT_IMAGE1D:
    case CL_MEM_OBJECT_IMAGE1D_BUFFER:
      return {desc.image_width, 1, 1};
    case CL_MEM_OBJECT_IMAGE1D_ARRAY:
      return {desc.image_width, desc.image_array_size, 1};
    case CL_MEM_OBJECT_IMAGE2D_ARRAY:
      return {desc.image_width, desc.image_height, desc.image_array_size};
    case CL_MEM_OBJECT_IMAGE3D:
      return {desc.image_width, desc.image_height, desc.image_depth};
    default:
      return {desc.image_width, desc.image_height, 1};
  }
}

std::size_t row_of(const cl_image_format& format, const cl_image_desc& desc) {
  // A 2D image from a buffer has the gaps of the buffer's layout.
  if (desc.image_type == CL_MEM_OBJECT_IMAGE2D && desc.buffer != nullptr && desc.image_row_pitch != 0)
    return desc.image_row_pitch;
  return desc.image_width * element_size(format);
}

std::size_t size_of(const cl_image_format& format, const cl_image_desc& desc) {
  const auto extent = extent_of(desc);
  return row_of(format, desc) * extent[1] * extent[2];
}

}  // namespace

Image::Image(Ref<Context> context, cl_mem_flags flags, const cl_image_format& format,
             const cl_image_desc& desc, void* host_ptr, Ref<Memory> buffer,
             std::vector<cl_mem_properties> properties)
    : Memory(std::move(context), desc.image_type, flags, size_of(format, desc),
             (flags & CL_MEM_USE_HOST_PTR) != 0 ? host_ptr : nullptr, std::move(buffer), 0,
             std::move(properties)),
      format_(format),
      desc_(desc) {
  if (host_ptr == nullptr || (flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)) == 0) return;
  const auto extent = this->extent();
  const protocol::Triple bytes{extent[0] * element_size(), extent[1], extent[2]};
  HostBlock block = allocate_host_block(size());
  copy_box(block.get(), dense(bytes), static_cast<const std::byte*>(host_ptr), host_pitches(), bytes);
  set_host_content(std::move(block));
}

protocol::Triple Image::extent() const {
  return extent_of(desc_);
}

unsigned Image::dimensions() const {
  switch (type()) {
    case CL_MEM_OBJECT_IMAGE1D:
    case CL_MEM_OBJECT_IMAGE1D_BUFFER:
      return 1;
    case CL_MEM_OBJECT_IMAGE1D_ARRAY:
    case CL_MEM_OBJECT_IMAGE2D:
      return 2;
    default:
      return 3;
  }
}

Pitches Image::host_pitches() const {
  const auto extent = this->extent();
  const std::size_t row = desc_.image_row_pitch != 0 ? desc_.image_row_pitch : extent[0] * element_size();
  if (type() == CL_MEM_OBJECT_IMAGE1D_ARRAY) {
    const std::size_t layer = desc_.image_slice_pitch != 0 ? desc_.image_slice_pitch : row;
    return {layer, layer * extent[1]};
  }
  return {row, desc_.image_slice_pitch != 0 ? desc_.image_slice_pitch : row * extent[1]};
}

Pitches Image::content_pitches() const {
  const std::size_t row = row_of(format_, desc_);
  return {row, row * extent()[1]};
}

void Image::post_create(Worker& worker) const {
  // CreateImage has the number of layers in a field of its own. Fields of desc_ that the type does not use
  // may contain anything.
  protocol::Triple extent = this->extent();
  if (is_array()) extent[type() == CL_MEM_OBJECT_IMAGE1D_ARRAY ? 1 : 2] = 1;
  const std::uint64_t layers = is_array() ? desc_.image_array_size : 0;
  worker.link().post(protocol::CreateImage{id(), context()->id(), flags() & ~kClientFlags,
                                           format_.image_channel_order, format_.image_channel_data_type,
                                           type(), extent, layers, parent() ? desc_.image_row_pitch : 0,
                                           parent() ? parent()->id() : 0});
}

}  // namespace clique::icd
