// Checks of arguments that several entry points share.
#pragma once

#include <CL/cl.h>

#include <vector>

#include "icd/api/boundary.hpp"
#include "icd/core/commands/queue.hpp"
#include "icd/core/events/event.hpp"
#include "icd/core/objects/image.hpp"

namespace clique::icd::api {

/// True if [offset, offset + size) lies within `total`. Does not overflow.
constexpr bool within(std::uint64_t offset, std::uint64_t size, std::uint64_t total) {
  return size <= total && offset <= total - size;
}

/// True if at most one of the bits of `group` is set in `flags`.
constexpr bool at_most_one(cl_bitfield flags, cl_bitfield group) {
  return ((flags & group) & ((flags & group) - 1)) == 0;
}

/// Checks the cl_mem_flags that buffers and images have in common (section 5.2.1). Throws
/// Error(CL_INVALID_VALUE).
void check_flags(cl_mem_flags flags);
/// Checks host_ptr against the flags (section 5.2.1). Throws Error(CL_INVALID_HOST_PTR), also if it points
/// into a device allocation. @returns what of shared virtual memory it points to; empty if that is nothing.
SvmPointer check_host_ptr(Context& context, cl_mem_flags flags, const void* host_ptr);
/// @returns the flags of an object that is a part of `parent`, or an image over it: `flags`, with access and
/// host access inherited if they are not given. Throws Error(CL_INVALID_VALUE).
cl_mem_flags inherit_flags(cl_mem_flags flags, const Memory& parent);
/// @returns the property list with its closing zero; empty for NULL. Throws Error(CL_INVALID_PROPERTY) if it
/// contains a property, since memory objects have none.
std::vector<cl_mem_properties> memory_properties(const cl_mem_properties* properties);

/// The events of a wait list. Throws Error(CL_INVALID_EVENT_WAIT_LIST) if list and count disagree or an event
/// is no valid handle, and Error(CL_INVALID_CONTEXT) if one belongs to another context.
std::vector<Ref<Event>> wait_list(const Context& context, cl_uint count, const cl_event* events);

/// The memory object of a command on `queue`. Throws Error(CL_INVALID_MEM_OBJECT), Error(CL_INVALID_CONTEXT).
Ref<Memory> memory_for(const Queue& queue, cl_mem handle);
/// memory_for() of a buffer. Also throws Error(CL_MISALIGNED_SUB_BUFFER_OFFSET).
Ref<Memory> buffer_for(const Queue& queue, cl_mem handle);
/// memory_for() of an image. Also throws Error(CL_INVALID_OPERATION) if the device does not support images.
Ref<Image> image_for(const Queue& queue, cl_mem handle);

/// The queue of a command on shared virtual memory. Throws Error(CL_INVALID_COMMAND_QUEUE),
/// Error(CL_INVALID_OPERATION).
Ref<Queue> svm_queue(cl_command_queue handle);
/// The allocation that contains [pointer, pointer + size). Throws Error(CL_INVALID_VALUE) if none does.
SvmPointer svm_part(const Queue& queue, const void* pointer, size_t size);
/// The device allocation that contains [pointer, pointer + size) and that the host cannot access; empty if
/// there is none. Throws Error(CL_INVALID_VALUE) if the range exceeds the allocation.
SvmPointer device_part(const Queue& queue, const void* pointer, size_t size);
/// Checks that [pointer, pointer + size), which the call itself accesses, is not part of a device allocation
/// that the host cannot access. Throws Error(CL_INVALID_VALUE). @param name that of the argument.
void require_accessible(const Queue& queue, const void* pointer, size_t size, const char* name);
/// Enqueues a copy between shared virtual memory and host memory, in any combination. Throws
/// Error(CL_INVALID_VALUE), Error(CL_MEM_COPY_OVERLAP), and if it blocks, what conclude() throws.
void copy_memory(Queue& queue, bool blocking, void* to, const void* from, size_t size,
                 const CommandInfo& command, cl_event* event);
/// Enqueues a fill of shared virtual memory. Throws Error(CL_INVALID_VALUE).
Ref<Event> fill_memory(Queue& queue, void* to, const void* pattern, size_t pattern_size, size_t size,
                       const CommandInfo& command, EventUse event);

/// Checks that [offset, offset + size) lies within the buffer. Throws Error(CL_INVALID_VALUE).
void require_range(std::uint64_t offset, std::uint64_t size, const Memory& memory);
/// Checks that the host may read, or write, the object. Throws Error(CL_INVALID_OPERATION).
void require_host_read(const Memory& memory);
void require_host_write(const Memory& memory);

/// Checks the flags of a mapping. Throws Error(CL_INVALID_VALUE), Error(CL_INVALID_OPERATION).
void check_map_flags(cl_map_flags flags, const Memory& memory);
/// Checks the flags of a migration. Throws Error(CL_INVALID_VALUE).
void check_migration_flags(cl_mem_migration_flags flags);

/// The three values of an origin or a region. Throws Error(CL_INVALID_VALUE) for NULL.
protocol::Triple triple(const size_t* values);

/// Reads the first and the last byte of host memory that a command is to read. An invalid pointer raises
/// SIGSEGV here, in the call that received it, and not later in a thread of this library.
void touch_source(const void* memory, std::size_t size);
/// The same for memory that a command is to write: it must be writable. Its content does not change.
void touch_destination(void* memory, std::size_t size);

/// Waits for the event of a blocking command. If the command fails, throws Error with its status, or with
/// CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST if one of `waits` failed.
void wait_blocking(const Event& event, std::span<const Ref<Event>> waits);

/// Ends most entry points that enqueue: waits if the call is blocking, and returns the event in `out`.
void conclude(const Ref<Event>& event, bool blocking, std::span<const Ref<Event>> waits, cl_event* out);

}  // namespace clique::icd::api
