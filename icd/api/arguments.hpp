// Clauses that many entry points share.
#pragma once

#include <CL/cl.h>

#include "icd/api/boundary.hpp"
#include "icd/core/commands/queue.hpp"
#include "icd/core/events/event.hpp"
#include "icd/core/objects/memory.hpp"

namespace clique::icd::api {

/// [offset, offset + size) lies within `total`, without wrapping.
constexpr bool within(std::uint64_t offset, std::uint64_t size, std::uint64_t total) {
  return size <= total && offset <= total - size;
}

/// At most one of the bits of `group` is set in `flags`.
constexpr bool at_most_one(cl_bitfield flags, cl_bitfield group) {
  return ((flags & group) & ((flags & group) - 1)) == 0;
}

/// The clauses on cl_mem_flags that buffers and images have in common (tables of section 5.2.1), host_ptr
/// included. Throws Error(CL_INVALID_VALUE) and Error(CL_INVALID_HOST_PTR).
void check_flags(cl_mem_flags flags);
void check_host_ptr(cl_mem_flags flags, const void* host_ptr);
/// Flags of an object over `parent`: access and host access inherited where not given. Throws
/// Error(CL_INVALID_VALUE).
cl_mem_flags inherit_flags(cl_mem_flags flags, const Memory& parent);
/// The closed list of properties, its zero included. Throws Error(CL_INVALID_PROPERTY) where there are any.
std::vector<cl_mem_properties> memory_properties(const cl_mem_properties* properties);

/// The memory object of a command. Throws Error(CL_INVALID_MEM_OBJECT), Error(CL_INVALID_CONTEXT).
Ref<Memory> memory_for(const Queue& queue, cl_mem handle);
/// The same for a buffer; also Error(CL_MISALIGNED_SUB_BUFFER_OFFSET).
Ref<Memory> buffer_for(const Queue& queue, cl_mem handle);
/// The same for an image; also Error(CL_INVALID_OPERATION) where the device has no images.
Ref<Image> image_for(const Queue& queue, cl_mem handle);

/// The host may read (write) the object. Throws Error(CL_INVALID_OPERATION).
void require_host_read(const Memory& memory);
void require_host_write(const Memory& memory);

/// The flags of a mapping. Throws Error(CL_INVALID_VALUE), Error(CL_INVALID_OPERATION).
void check_map_flags(cl_map_flags flags, const Memory& memory);
/// The flags of a migration. Throws Error(CL_INVALID_VALUE).
void check_migration_flags(cl_mem_migration_flags flags);

/// Three sizes of the application's. Throws Error(CL_INVALID_VALUE) for NULL.
protocol::Triple triple(const size_t* values);

/// Touches the first and the last byte of host memory that a command is to read. So a pointer to where there
/// is no memory faults here, in the call that was given it, and not later in a thread of this library.
void touch_source(const void* memory, std::size_t size);
/// The same for memory that a command is to fill: it has to be writable, and stays as it is.
void touch_destination(void* memory, std::size_t size);

/// Waits for a blocking command's event. Throws Error with its status,
/// CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST where it was an awaited event that failed.
void wait_blocking(const Event& event, std::span<const Ref<Event>> waits);

/// The end of most commands: waits where the call is blocking, and gives the event out.
void conclude(const Ref<Event>& event, bool blocking, std::span<const Ref<Event>> waits, cl_event* out);

}  // namespace clique::icd::api
