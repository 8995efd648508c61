#include "icd/api/arguments.hpp"

#include <algorithm>
#include <utility>

#include "icd/core/objects/svm_allocation.hpp"

namespace clique::icd::api {

namespace {

constexpr cl_mem_flags kAccess = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
constexpr cl_mem_flags kHostAccess = CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;
constexpr cl_mem_flags kHostPointer = CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;

}  // namespace

void check_flags(cl_mem_flags flags) {
  require((flags & ~(kAccess | kHostAccess | kHostPointer)) == 0, CL_INVALID_VALUE, "flags are ", Hex{flags},
          "; ", Hex{flags & ~(kAccess | kHostAccess | kHostPointer)}, " is not defined");
  require(at_most_one(flags, kAccess), CL_INVALID_VALUE, "flags are ", Hex{flags},
          "; CL_MEM_READ_WRITE, CL_MEM_WRITE_ONLY and CL_MEM_READ_ONLY exclude each other");
  require(at_most_one(flags, kHostAccess), CL_INVALID_VALUE, "flags are ", Hex{flags},
          "; the CL_MEM_HOST_ flags exclude each other");
  require((flags & CL_MEM_USE_HOST_PTR) == 0 || (flags & (CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR)) == 0,
          CL_INVALID_VALUE, "flags are ", Hex{flags},
          "; CL_MEM_USE_HOST_PTR excludes CL_MEM_ALLOC_HOST_PTR and CL_MEM_COPY_HOST_PTR");
}

SvmPointer check_host_ptr(Context& context, cl_mem_flags flags, const void* host_ptr) {
  const bool wanted = (flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)) != 0;
  require(wanted == (host_ptr != nullptr), CL_INVALID_HOST_PTR,
          wanted ? "host_ptr is NULL; CL_MEM_USE_HOST_PTR and CL_MEM_COPY_HOST_PTR need one"
                 : "host_ptr is given without CL_MEM_USE_HOST_PTR or CL_MEM_COPY_HOST_PTR");
  if (host_ptr == nullptr) return {};
  SvmPointer svm = context.svm().find(host_ptr);
  const auto* const usm = dynamic_cast<const UsmAllocation*>(svm.allocation.get());
  require(usm == nullptr || usm->usm_type() != CL_MEM_TYPE_DEVICE_INTEL, CL_INVALID_HOST_PTR,
          "host_ptr points into a device allocation, which the host cannot access");
  return svm;
}

cl_mem_flags inherit_flags(cl_mem_flags flags, const Memory& parent) {
  const cl_mem_flags above = parent.flags();
  require((above & CL_MEM_WRITE_ONLY) == 0 || (flags & (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY)) == 0,
          CL_INVALID_VALUE, "flags are ", Hex{flags}, "; the buffer is CL_MEM_WRITE_ONLY");
  require((above & CL_MEM_READ_ONLY) == 0 || (flags & (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY)) == 0,
          CL_INVALID_VALUE, "flags are ", Hex{flags}, "; the buffer is CL_MEM_READ_ONLY");
  require((above & CL_MEM_HOST_WRITE_ONLY) == 0 || (flags & CL_MEM_HOST_READ_ONLY) == 0, CL_INVALID_VALUE,
          "flags are ", Hex{flags}, "; the buffer is CL_MEM_HOST_WRITE_ONLY");
  require((above & CL_MEM_HOST_READ_ONLY) == 0 || (flags & CL_MEM_HOST_WRITE_ONLY) == 0, CL_INVALID_VALUE,
          "flags are ", Hex{flags}, "; the buffer is CL_MEM_HOST_READ_ONLY");
  require(
      (above & CL_MEM_HOST_NO_ACCESS) == 0 || (flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY)) == 0,
      CL_INVALID_VALUE, "flags are ", Hex{flags}, "; the buffer is CL_MEM_HOST_NO_ACCESS");
  if ((flags & kAccess) == 0) flags |= above & kAccess;
  if ((flags & kHostAccess) == 0) flags |= above & kHostAccess;
  return flags | (above & kHostPointer);
}

std::vector<cl_mem_properties> memory_properties(const cl_mem_properties* properties) {
  if (properties == nullptr) return {};
  require(properties[0] == 0, CL_INVALID_PROPERTY, "properties contain ",
          Hex{static_cast<std::uint64_t>(properties[0])}, "; memory objects have no properties");
  return {0};
}

std::vector<Ref<Event>> wait_list(const Context& context, cl_uint count, const cl_event* events) {
  require((count == 0) == (events == nullptr), CL_INVALID_EVENT_WAIT_LIST, "num_events_in_wait_list is ",
          count, events == nullptr ? "; event_wait_list is NULL" : "; event_wait_list is not NULL");
  std::vector<Ref<Event>> list;
  list.reserve(count);
  for (cl_uint i = 0; i < count; ++i) {
    Ref<Event> event = find<Event>(events[i]);
    require(static_cast<bool>(event), CL_INVALID_EVENT_WAIT_LIST, "event ", i,
            " of event_wait_list is not a valid handle");
    require(event->context().get() == &context, CL_INVALID_CONTEXT, "event ", i,
            " of event_wait_list belongs to another context");
    list.push_back(std::move(event));
  }
  return list;
}

Ref<Memory> memory_for(const Queue& queue, cl_mem handle) {
  Ref<Memory> memory = get<Memory>(handle);
  require(memory->context() == queue.context(), CL_INVALID_CONTEXT,
          "the queue and the memory object belong to different contexts");
  return memory;
}

Ref<Memory> buffer_for(const Queue& queue, cl_mem handle) {
  Ref<Memory> memory = memory_for(queue, handle);
  require(!memory->is_image(), CL_INVALID_MEM_OBJECT, "the memory object is an image; a buffer is required");
  const auto alignment = queue.device()->value<cl_uint>(CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;
  require(alignment == 0 || memory->origin() % alignment == 0, CL_MISALIGNED_SUB_BUFFER_OFFSET,
          "the sub-buffer's origin is ", memory->origin(), "; the queue's device requires a multiple of ",
          alignment);
  return memory;
}

Ref<Image> image_for(const Queue& queue, cl_mem handle) {
  const Ref<Memory> memory = memory_for(queue, handle);
  auto* image = dynamic_cast<Image*>(memory.get());
  require(image != nullptr, CL_INVALID_MEM_OBJECT, "the memory object is a buffer; an image is required");
  require(queue.device()->value<cl_bool>(CL_DEVICE_IMAGE_SUPPORT) == CL_TRUE, CL_INVALID_OPERATION,
          "the queue's device does not support images");
  return Ref<Image>(image);
}

void require_range(std::uint64_t offset, std::uint64_t size, const Memory& memory) {
  require(within(offset, size, memory.size()), CL_INVALID_VALUE, size, " bytes at offset ", offset,
          " exceed the buffer, which has ", memory.size(), " bytes");
}

void require_host_read(const Memory& memory) {
  require((memory.flags() & (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS)) == 0, CL_INVALID_OPERATION,
          "the memory object was created with CL_MEM_HOST_WRITE_ONLY or CL_MEM_HOST_NO_ACCESS");
}

void require_host_write(const Memory& memory) {
  require((memory.flags() & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS)) == 0, CL_INVALID_OPERATION,
          "the memory object was created with CL_MEM_HOST_READ_ONLY or CL_MEM_HOST_NO_ACCESS");
}

void check_map_flags(cl_map_flags flags, const Memory& memory) {
  require((flags & ~cl_map_flags{CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION}) == 0,
          CL_INVALID_VALUE, "map_flags are ", Hex{flags}, ", of which some are not defined");
  require((flags & CL_MAP_WRITE_INVALIDATE_REGION) == 0 || (flags & (CL_MAP_READ | CL_MAP_WRITE)) == 0,
          CL_INVALID_VALUE, "map_flags are ", Hex{flags},
          "; CL_MAP_WRITE_INVALIDATE_REGION excludes the other flags");
  if ((flags & CL_MAP_READ) != 0) require_host_read(memory);
  if ((flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) != 0) require_host_write(memory);
}

void check_migration_flags(cl_mem_migration_flags flags) {
  require((flags & ~cl_mem_migration_flags{CL_MIGRATE_MEM_OBJECT_HOST |
                                           CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED}) == 0,
          CL_INVALID_VALUE, "flags are ", Hex{flags}, ", of which some are not defined");
}

protocol::Triple triple(const size_t* values) {
  require(values != nullptr, CL_INVALID_VALUE, "an origin or a region is NULL");
  return {values[0], values[1], values[2]};
}

// Pending commands may use the same memory, which race detectors need not report.

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
  throw Error(awaited ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : event.status(),
              "the command failed with status ", event.status());
}

void conclude(const Ref<Event>& event, bool blocking, std::span<const Ref<Event>> waits, cl_event* out) {
  if (blocking) wait_blocking(*event, waits);
  give_event(event, out);
}

}  // namespace clique::icd::api
