#include "icd/core/objects/memory.hpp"

#include <algorithm>
#include <cstring>

#include "icd/core/coherence/coherence.hpp"
#include "icd/core/objects/context.hpp"
#include "icd/core/transfers/host_segment.hpp"
#include "icd/core/workers/worker.hpp"
#include "icd/remote/link/link.hpp"
#include "protocol/batch.hpp"
#include "protocol/messages.hpp"

namespace clique::icd {

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
      svm_(std::move(svm)),
      coherence_(std::make_unique<Coherence>(*this)) {}

Memory::~Memory() {
  if (counted_) context_->remove_buffer(*this, residency_ != Residency::Undecided);
  for (const Worker* worker : created_on_) const_cast<Worker*>(worker)->release_object(id_);
  for (auto callback = destructors_.rbegin(); callback != destructors_.rend(); ++callback)
    callback->first(this, callback->second);
}

void Memory::set_host_content(HostBlock block) {
  const auto* data = block ? block.get() : static_cast<const std::byte*>(host_ptr_);
  const std::lock_guard lock(context_->coherence_mutex());
  coherence_->set_host_content(data, std::move(block));
}

void Memory::count_in_context() {
  context_->add_buffer(*this);
  counted_ = true;
}

bool Memory::sparse() const {
  if (base()) return base()->sparse();
  if (!counted_) return false;
  Residency residency = residency_.load(std::memory_order_acquire);
  if (residency == Residency::Undecided) {
    const std::lock_guard lock(residency_mutex_);
    residency = residency_.load(std::memory_order_relaxed);
    if (residency == Residency::Undecided) {
      residency = context_->decide_sparse(const_cast<Memory&>(*this)) ? Residency::Sparse : Residency::Whole;
      residency_.store(residency, std::memory_order_release);
    }
  }
  return residency == Residency::Sparse;
}

void Memory::ensure_on(Worker& worker) {
  if (base()) base()->ensure_on(worker);
  const std::lock_guard lock(mutex_);
  if (std::find(created_on_.begin(), created_on_.end(), &worker) != created_on_.end()) return;
  // Posted under the lock: a thread that finds the worker in the list may post commands that use the object.
  post_create(worker);
  created_on_.push_back(&worker);
}

bool Memory::exists_on(const Worker& worker) const {
  const std::lock_guard lock(mutex_);
  return std::find(created_on_.begin(), created_on_.end(), &worker) != created_on_.end();
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
  if (!segment_) segment_ = HostSegment::make(size_, workers);
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
  if (!this->svm()) count_in_context();
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

void require_not_sparse(std::span<const Access> accesses) {
  for (const Access& access : accesses)
    require(!access.memory->sparse(), CL_MEM_OBJECT_ALLOCATION_FAILURE,
            "a command buffer cannot have a command on a buffer of ", access.memory->size(),
            " bytes, or a part of one, that is divided among the members of a combined device, because no "
            "member has room for all of it; enqueue the command instead");
}

void Buffer::post_create(Worker& worker) const {
  const cl_mem_flags flags = this->flags() & ~kClientFlags;
  if (base()) {
    worker.link().post(protocol::CreateSubBuffer{id(), base()->id(), flags, base_offset(), size()});
  } else {
    require(!sparse() || context()->has_sparse_buffers(worker), CL_INVALID_OPERATION, "a buffer of ", size(),
            " bytes is larger than one device's memory, and the devices of ", worker.label(),
            " cannot have a part of it");
    worker.link().post(protocol::CreateBuffer{id(), context()->id(), flags, size(), 0, 0, sparse()});
  }
}

}  // namespace clique::icd
