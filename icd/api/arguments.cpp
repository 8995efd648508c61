#include "icd/api/arguments.hpp"

#include <algorithm>

namespace clique::icd::api {

namespace {

constexpr cl_mem_flags kAccess = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
constexpr cl_mem_flags kHostAccess = CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;
constexpr cl_mem_flags kHostPointer = CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;

}  // namespace

void check_flags(cl_mem_flags flags) {
  require((flags & ~(kAccess | kHostAccess | kHostPointer)) == 0, CL_INVALID_VALUE, "unknown memory flags");
  require(at_most_one(flags, kAccess), CL_INVALID_VALUE, "access flags exclude each other");
  require(at_most_one(flags, kHostAccess), CL_INVALID_VALUE, "host access flags exclude each other");
  require((flags & CL_MEM_USE_HOST_PTR) == 0 || (flags & (CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR)) == 0,
          CL_INVALID_VALUE, "CL_MEM_USE_HOST_PTR excludes the other host-pointer flags");
}

void check_host_ptr(cl_mem_flags flags, const void* host_ptr) {
  const bool wanted = (flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)) != 0;
  require(wanted == (host_ptr != nullptr), CL_INVALID_HOST_PTR,
          wanted ? "the flags need a host_ptr" : "a host_ptr without flags for it");
}

cl_mem_flags inherit_flags(cl_mem_flags flags, const Memory& parent) {
  const cl_mem_flags above = parent.flags();
  require((above & CL_MEM_WRITE_ONLY) == 0 || (flags & (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY)) == 0,
          CL_INVALID_VALUE, "the buffer is write-only");
  require((above & CL_MEM_READ_ONLY) == 0 || (flags & (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY)) == 0,
          CL_INVALID_VALUE, "the buffer is read-only");
  require((above & CL_MEM_HOST_WRITE_ONLY) == 0 || (flags & CL_MEM_HOST_READ_ONLY) == 0, CL_INVALID_VALUE,
          "the host may only write the buffer");
  require((above & CL_MEM_HOST_READ_ONLY) == 0 || (flags & CL_MEM_HOST_WRITE_ONLY) == 0, CL_INVALID_VALUE,
          "the host may only read the buffer");
  require(
      (above & CL_MEM_HOST_NO_ACCESS) == 0 || (flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY)) == 0,
      CL_INVALID_VALUE, "the host may not access the buffer");
  if ((flags & kAccess) == 0) flags |= above & kAccess;
  if ((flags & kHostAccess) == 0) flags |= above & kHostAccess;
  return flags | (above & kHostPointer);
}

std::vector<cl_mem_properties> memory_properties(const cl_mem_properties* properties) {
  if (properties == nullptr) return {};
  require(properties[0] == 0, CL_INVALID_PROPERTY, "memory objects have no properties here");
  return {0};
}

Ref<Memory> memory_for(const Queue& queue, cl_mem handle) {
  Ref<Memory> memory = get<Memory>(handle);
  require(memory->context() == queue.context(), CL_INVALID_CONTEXT,
          "queue and memory object are of different contexts");
  return memory;
}

Ref<Memory> buffer_for(const Queue& queue, cl_mem handle) {
  Ref<Memory> memory = memory_for(queue, handle);
  require(!memory->is_image(), CL_INVALID_MEM_OBJECT, "an image where a buffer is expected");
  const auto alignment = queue.device()->value<cl_uint>(CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;
  require(alignment == 0 || memory->origin() % alignment == 0, CL_MISALIGNED_SUB_BUFFER_OFFSET,
          "the sub-buffer's origin is not aligned for this device");
  return memory;
}

Ref<Image> image_for(const Queue& queue, cl_mem handle) {
  const Ref<Memory> memory = memory_for(queue, handle);
  auto* image = dynamic_cast<Image*>(memory.get());
  require(image != nullptr, CL_INVALID_MEM_OBJECT, "a buffer where an image is expected");
  require(queue.device()->value<cl_bool>(CL_DEVICE_IMAGE_SUPPORT) == CL_TRUE, CL_INVALID_OPERATION,
          "the queue's device has no images");
  return Ref<Image>(image);
}

void require_host_read(const Memory& memory) {
  require((memory.flags() & (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS)) == 0, CL_INVALID_OPERATION,
          "the host may not read this memory object");
}

void require_host_write(const Memory& memory) {
  require((memory.flags() & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS)) == 0, CL_INVALID_OPERATION,
          "the host may not write this memory object");
}

void check_map_flags(cl_map_flags flags, const Memory& memory) {
  require((flags & ~cl_map_flags{CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION}) == 0,
          CL_INVALID_VALUE, "unknown map flags");
  require((flags & CL_MAP_WRITE_INVALIDATE_REGION) == 0 || (flags & (CL_MAP_READ | CL_MAP_WRITE)) == 0,
          CL_INVALID_VALUE, "CL_MAP_WRITE_INVALIDATE_REGION excludes the other flags");
  if ((flags & CL_MAP_READ) != 0) require_host_read(memory);
  if ((flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) != 0) require_host_write(memory);
}

void check_migration_flags(cl_mem_migration_flags flags) {
  require((flags & ~cl_mem_migration_flags{CL_MIGRATE_MEM_OBJECT_HOST |
                                           CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED}) == 0,
          CL_INVALID_VALUE, "unknown migration flags");
}

protocol::Triple triple(const size_t* values) {
  require(values != nullptr, CL_INVALID_VALUE, "an origin or region is NULL");
  return {values[0], values[1], values[2]};
}

// Commands under way may use the same memory, of which race detectors need not know.

[[gnu::no_sanitize_thread]] void touch_source(const void* memory, std::size_t size) {
  const auto* bytes = static_cast<const volatile unsigned char*>(memory);
  if (size == 0) return;
  static_cast<void>(bytes[0]);
  static_cast<void>(bytes[size - 1]);
}

[[gnu::no_sanitize_thread]] void touch_destination(void* memory, std::size_t size) {
  auto* bytes = static_cast<unsigned char*>(memory);
  if (size == 0) return;
  // In one step: what others write there meanwhile stays.
  __atomic_fetch_or(bytes, 0, __ATOMIC_RELAXED);
  __atomic_fetch_or(bytes + size - 1, 0, __ATOMIC_RELAXED);
}

void wait_blocking(const Event& event, std::span<const Ref<Event>> waits) {
  const_cast<Event&>(event).wait();
  if (event.status() >= 0) return;
  const bool awaited =
      std::any_of(waits.begin(), waits.end(), [](const Ref<Event>& wait) { return wait->status() < 0; });
  throw Error(awaited ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : event.status(), "the command failed");
}

void conclude(const Ref<Event>& event, bool blocking, std::span<const Ref<Event>> waits, cl_event* out) {
  if (blocking) wait_blocking(*event, waits);
  give_event(event, out);
}

}  // namespace clique::icd::api
