#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "icd/common/object.hpp"
#include "icd/core/objects/access.hpp"
#include "icd/core/objects/svm_table.hpp"
#include "icd/core/transfers/host_content.hpp"
#include "icd/core/transfers/layout.hpp"
#include "protocol/ids.hpp"
#include "protocol/messages/message.hpp"

namespace clique::icd {

class Coherence;
class Context;
class HostSegment;
class Worker;

/// A mapped region, as clEnqueueMap* returned it.
struct Mapping {
  void* pointer = nullptr;
  cl_map_flags flags = 0;
  HostBlock block;  ///< empty if the region is in the application's memory (USE_HOST_PTR)
  /// Buffers: x in bytes, the others 0 and 1. Images: as in clEnqueueMapImage.
  protocol::Triple origin{};
  protocol::Triple region{};
  Pitches pitches{};

  bool writes() const { return (flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) != 0; }
  bool overlaps(const Mapping& other) const;
};

/// Bytes of a content size in its buffer: an integer, little endian.
inline constexpr std::size_t kContentSizeBytes = 8;

/// OpenCL 3.0, sections 5.2 and 5.3: a buffer, sub-buffer or image. Any thread.
class Memory : public Object<_cl_mem, Kind::Memory, CL_INVALID_MEM_OBJECT> {
 public:
  using DestructorCallback = void(CL_CALLBACK*)(cl_mem, void*);

  ~Memory() override;

  const Ref<Context>& context() const { return context_; }
  protocol::ObjectId id() const { return id_; }
  cl_mem_object_type type() const { return type_; }
  bool is_image() const { return type_ != CL_MEM_OBJECT_BUFFER; }
  /// Access and host-pointer flags as the queries report them, inherited ones included.
  cl_mem_flags flags() const { return flags_; }
  /// Bytes; of an image, of its content without gaps.
  std::size_t size() const { return size_; }
  void* host_ptr() const { return host_ptr_; }
  /// The buffer of which this object is a part or a view.
  const Ref<Memory>& parent() const { return parent_; }
  /// Byte offset in the parent.
  std::size_t origin() const { return origin_; }
  const std::vector<cl_mem_properties>& properties() const { return properties_; }

  /// The allocation of shared virtual memory into which a buffer's host pointer points.
  const SvmPointer& svm() const { return svm_; }
  /// The object whose content contains this one's, and the offset there in bytes: the parent or the
  /// allocation. Null if the object has content of its own.
  const Ref<Memory>& base() const { return parent_ ? parent_ : svm_.allocation; }
  std::size_t base_offset() const { return parent_ ? origin_ : svm_.offset; }

  /// Whether the content is this process's memory, in which the workers work as well. Then it is valid
  /// everywhere, and never moves.
  bool in_place() const { return base() ? base()->in_place() : in_place_; }

  /// Whether this is a buffer, or a part of one, of which members of the context's combined device have
  /// addresses for all of it, and memory for what they use. Decided by the first call: for commands.
  bool sparse() const;

  /// Where the content is tracked, and the byte at which this object's content begins there.
  Coherence& coherence() { return base() ? base()->coherence() : *coherence_; }
  std::uint64_t coherence_begin() const { return base() ? base()->coherence_begin() + base_offset() : 0; }

  /// The buffer whose first kContentSizeBytes bytes say how many bytes of this one are meaningful
  /// (cl_pocl_content_size); null if all are. Guarded by Context::coherence_mutex().
  const Ref<Memory>& content_size() const { return content_size_; }
  /// Takes that mutex. Throws Error(CL_INVALID_MEM_OBJECT) if `buffer` has its own content size, directly or
  /// not, in this object.
  void set_content_size(Ref<Memory> buffer);

  /// Creates the native object on the worker, and those of its bases, if they do not exist there. Throws
  /// Error(CL_INVALID_OPERATION) if the worker cannot have it.
  void ensure_on(Worker& worker);
  bool exists_on(const Worker& worker) const;

  /// Memory for CL_MEM_ALLOC_HOST_PTR that workers on this host share, from this byte of the object on. Null
  /// if the flag was not given, or sharing is not worthwhile.
  HostBlock pinned_memory(std::size_t offset);

  /// Throws Error(CL_INVALID_OPERATION) if it overlaps another one and both are for writing.
  void add_mapping(Mapping mapping);
  /// Removes and returns the mapping at `pointer`; if there are several, the one mapped last.
  std::optional<Mapping> take_mapping(const void* pointer);
  cl_uint map_count() const;
  void add_destructor(DestructorCallback callback, void* user_data);
  /// Whether the application can observe the destruction of the object, so that it must not happen before the
  /// commands that use the object are complete.
  bool outlives_commands() const;

 protected:
  /// Flags that only the client looks at. The native object does not get them: its host is the worker, which
  /// has to read and write it even if the application may not.
  static constexpr cl_mem_flags kClientFlags = CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR |
                                               CL_MEM_COPY_HOST_PTR | CL_MEM_HOST_WRITE_ONLY |
                                               CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;

  Memory(Ref<Context> context, cl_mem_object_type type, cl_mem_flags flags, std::size_t size, void* host_ptr,
         Ref<Memory> parent, std::size_t origin, std::vector<cl_mem_properties> properties,
         SvmPointer svm = {});
  /// From now on in_place(). To be called before the object is used.
  void set_in_place() { in_place_ = true; }
  /// Counts a buffer with memory of its own in its context (Context::add_buffer). From now on it may become
  /// sparse(). To be called before the object is used.
  void count_in_context();
  /// Sets the content of COPY_HOST_PTR or USE_HOST_PTR. @param block the content without gaps; null if it is
  /// at host_ptr itself.
  void set_host_content(HostBlock block);

 private:
  /// Throws Error(CL_INVALID_OPERATION) if the worker cannot have the object.
  virtual void post_create(Worker& worker) const = 0;

  protocol::ObjectId id_ = next_id();
  Ref<Context> context_;
  cl_mem_object_type type_;
  cl_mem_flags flags_;
  std::size_t size_;
  void* host_ptr_;
  Ref<Memory> parent_;
  std::size_t origin_;
  std::vector<cl_mem_properties> properties_;
  SvmPointer svm_;
  bool in_place_ = false;
  bool counted_ = false;  ///< whether count_in_context() was called
  enum class Residency : std::uint8_t { Undecided, Whole, Sparse };
  mutable std::mutex residency_mutex_;  // of the decision
  mutable std::atomic<Residency> residency_{Residency::Undecided};
  Ref<Memory> content_size_;
  const std::unique_ptr<Coherence> coherence_;
  mutable std::mutex mutex_;
  std::vector<const Worker*> created_on_;
  std::vector<Mapping> mappings_;
  std::shared_ptr<HostSegment> segment_;
  std::vector<std::pair<DestructorCallback, void*>> destructors_;
  std::atomic<bool> has_destructors_{false};
};

class Buffer final : public Memory {
 public:
  /// @param svm the allocation that host_ptr points into, with CL_MEM_USE_HOST_PTR.
  Buffer(Ref<Context> context, cl_mem_flags flags, std::size_t size, void* host_ptr,
         std::vector<cl_mem_properties> properties, SvmPointer svm = {});
  /// A sub-buffer: a region of the parent's content.
  Buffer(const Ref<Buffer>& parent, cl_mem_flags flags, std::size_t origin, std::size_t size);

 private:
  void post_create(Worker& worker) const override;
};

/// Throws Error(CL_MEM_OBJECT_ALLOCATION_FAILURE) if one of the objects is sparse: for recorded commands,
/// which are not divided.
void require_not_sparse(std::span<const Access> accesses);

}  // namespace clique::icd
