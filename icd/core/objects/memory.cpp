#include "icd/core/objects/memory.hpp"

#include <algorithm>
#include <cstring>

#include "icd/core/workers/worker.hpp"

namespace clique::icd {

namespace {

/// Flags that the node's object does not get. The native object's host is the worker, which has to read and
/// write it even if the application may not.
constexpr cl_mem_flags kHostFlags = CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR |
                                    CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;

}  // namespace

Memory::Memory(Ref<Context> context, cl_mem_object_type type, cl_mem_flags flags, std::size_t size,
               void* host_ptr, Ref<Memory> parent, std::size_t origin,
               std::vector<cl_mem_properties> properties, SvmPointer svm)
    : context_(std::move(context)),
      type_(type),
      flags_(flags),
      size_(size),
      host_ptr_(host_ptr),
      parent_(std::move(parent)),
      origin_(origin),
      properties_(std::move(properties)),
      svm_(std::move(svm)) {}

Memory::~Memory() {
  for (const Worker* worker : created_on_) const_cast<Worker*>(worker)->release_object(id_);
  for (auto callback = destructors_.rbegin(); callback != destructors_.rend(); ++callback)
    callback->first(this, callback->second);
}

void Memory::set_host_content(HostBlock block) {
  const auto* data = block ? block.get() : static_cast<const std::byte*>(host_ptr_);
  const std::lock_guard lock(context_->coherence_mutex());
  coherence_.set_host_content(data, std::move(block));
}

void Memory::ensure_on(Worker& worker) {
  if (base()) base()->ensure_on(worker);
  const std::lock_guard lock(mutex_);
  if (std::find(created_on_.begin(), created_on_.end(), &worker) != created_on_.end()) return;
  created_on_.push_back(&worker);
  // Posted under the lock: a thread that finds the worker in the list may post commands that use the object.
  post_create(worker);
}

HostBlock Memory::pinned_memory(std::size_t offset) {
  if (is_image()) return nullptr;
  if (parent_) return parent_->pinned_memory(origin_ + offset);
  const auto& workers = context_->workers();
  const bool worthwhile = (flags_ & CL_MEM_ALLOC_HOST_PTR) != 0 && size_ >= HostSegment::kLeast &&
                          std::any_of(workers.begin(), workers.end(),
                                      [](const Worker* worker) { return worker->link().shares_memory(); });
  if (!worthwhile) return nullptr;
  const std::lock_guard lock(mutex_);
  if (!segment_) segment_ = HostSegment::make(size_);
  return segment_ ? HostBlock(segment_, segment_->data() + offset) : nullptr;
}

bool Mapping::overlaps(const Mapping& other) const {
  for (std::size_t i = 0; i < origin.size(); ++i)
    if (origin[i] >= other.origin[i] + other.region[i] || other.origin[i] >= origin[i] + region[i])
      return false;
  return true;
}

void Memory::set_content_size(Ref<Memory> buffer) {
  const std::lock_guard lock(context_->coherence_mutex());
  // A cycle would keep all of its buffers alive.
  for (const Memory* other = buffer.get(); other != nullptr; other = other->content_size_.get())
    require(other != this, CL_INVALID_MEM_OBJECT,
            "a buffer cannot hold its own content size, directly or through others");
  std::swap(content_size_, buffer);  // released after the lock
}

void Memory::add_mapping(Mapping mapping) {
  const std::lock_guard lock(mutex_);
  const bool clashes =
      mapping.writes() && std::any_of(mappings_.begin(), mappings_.end(), [&](const Mapping& other) {
        return other.writes() && other.overlaps(mapping);
      });
  require(!clashes, CL_INVALID_OPERATION, "part of the region is already mapped for writing");
  mappings_.push_back(std::move(mapping));
}

std::optional<Mapping> Memory::take_mapping(const void* pointer) {
  const std::lock_guard lock(mutex_);
  for (auto it = mappings_.rbegin(); it != mappings_.rend(); ++it) {
    if (it->pointer != pointer) continue;
    Mapping found = std::move(*it);
    mappings_.erase(std::next(it).base());
    return found;
  }
  return std::nullopt;
}

cl_uint Memory::map_count() const {
  const std::lock_guard lock(mutex_);
  return static_cast<cl_uint>(mappings_.size());
}

void Memory::add_destructor(DestructorCallback callback, void* user_data) {
  const std::lock_guard lock(mutex_);
  destructors_.emplace_back(callback, user_data);
  has_destructors_ = true;
}

bool Memory::outlives_commands() const {
  return has_destructors_ || (flags_ & CL_MEM_USE_HOST_PTR) != 0 || (parent_ && parent_->outlives_commands());
}

Buffer::Buffer(Ref<Context> context, cl_mem_flags flags, std::size_t size, void* host_ptr,
               std::vector<cl_mem_properties> properties, SvmPointer svm)
    : Memory(std::move(context), CL_MEM_OBJECT_BUFFER, flags, size,
             (flags & CL_MEM_USE_HOST_PTR) != 0 ? host_ptr : nullptr, nullptr, 0, std::move(properties),
             std::move(svm)) {
  if ((flags & CL_MEM_USE_HOST_PTR) != 0) {
    if (!this->svm()) set_host_content(nullptr);
  } else if ((flags & CL_MEM_COPY_HOST_PTR) != 0) {
    HostBlock block = allocate_host_block(size);
    std::memcpy(block.get(), host_ptr, size);
    set_host_content(std::move(block));
  }
}

Buffer::Buffer(const Ref<Buffer>& parent, cl_mem_flags flags, std::size_t origin, std::size_t size)
    : Memory(parent->context(), CL_MEM_OBJECT_BUFFER, flags, size,
             parent->host_ptr() != nullptr ? static_cast<std::byte*>(parent->host_ptr()) + origin : nullptr,
             parent, origin, {}) {}

void Buffer::post_create(Worker& worker) const {
  const cl_mem_flags flags = this->flags() & ~kHostFlags;
  if (base()) {
    worker.link().post(protocol::CreateSubBuffer{id(), base()->id(), flags, base_offset(), size()});
  } else {
    worker.link().post(protocol::CreateBuffer{id(), context()->id(), flags, size()});
  }
}

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

std::size_t size_of(const cl_image_format& format, const cl_image_desc& desc) {
  const auto extent = extent_of(desc);
  // A 2D image from a buffer has the gaps of the buffer's layout.
  if (desc.image_type == CL_MEM_OBJECT_IMAGE2D && desc.buffer != nullptr && desc.image_row_pitch != 0)
    return desc.image_row_pitch * extent[1];
  return extent[0] * extent[1] * extent[2] * element_size(format);
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

void Image::post_create(Worker& worker) const {
  // CreateImage has the number of layers in a field of its own.
  const protocol::Triple extent{desc_.image_width, std::max<std::size_t>(1, desc_.image_height),
                                std::max<std::size_t>(1, desc_.image_depth)};
  worker.link().post(
      protocol::CreateImage{id(), context()->id(), flags() & ~kHostFlags, format_.image_channel_order,
                            format_.image_channel_data_type, type(), extent, desc_.image_array_size,
                            parent() ? desc_.image_row_pitch : 0, parent() ? parent()->id() : 0});
}

}  // namespace clique::icd
