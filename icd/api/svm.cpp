// Shared virtual memory: OpenCL 3.0, section 5.6.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "icd/api/arguments.hpp"
#include "icd/api/entry_points.hpp"
#include "icd/api/works.hpp"
#include "icd/core/commands/host_transfers.hpp"
#include "icd/core/commands/work.hpp"
#include "icd/core/objects/svm_allocation.hpp"

namespace clique::icd::api {

namespace {

/// The allocation that contains [pointer, pointer + size); empty if `pointer` is outside of all allocations.
/// Throws Error(CL_INVALID_VALUE) if the range exceeds the allocation.
SvmPointer part(const Queue& queue, const void* pointer, size_t size) {
  SvmPointer svm = queue.context()->svm().find(pointer);
  if (svm)
    require(size <= svm.room(), CL_INVALID_VALUE, "size is ", size,
            "; from the pointer on, the allocation has ", svm.room(), " bytes");
  return svm;
}

/// Checks the arguments of clSVMAlloc, which itself returns no status. Throws Error.
void check_allocation(const Context& context, cl_svm_mem_flags flags, size_t size, cl_uint alignment) {
  constexpr cl_svm_mem_flags kAccess = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
  require((flags & ~kAccess) == 0 && at_most_one(flags, kAccess), CL_INVALID_VALUE, "flags are ", Hex{flags},
          "; allowed is at most one of CL_MEM_READ_WRITE, CL_MEM_WRITE_ONLY and CL_MEM_READ_ONLY");
  cl_ulong largest = 0;
  for (const auto& device : context.devices())
    if (device->has_svm()) largest = std::max(largest, device->largest_on_one());
  require(largest != 0, CL_INVALID_OPERATION, "no device of the context supports shared virtual memory");
  require(size != 0 && size <= largest, CL_INVALID_BUFFER_SIZE, "size is ", size,
          "; the devices of the context can allocate 1 to ", largest, " bytes");
  require(alignment == 0 || std::has_single_bit(alignment), CL_INVALID_VALUE, "alignment is ", alignment,
          ", which is not a power of two");
}

/// Copies from host memory to host memory in the command's place in the queue: through a buffer on the node.
Ref<Event> copy_on_host(Queue& queue, void* to, const void* from, size_t size, const CommandInfo& command) {
  const Ref<Buffer> between(new Buffer(queue.context(), CL_MEM_READ_WRITE, size, nullptr, {}));
  const Ref<Event> written = write_buffer(queue, *between, 0, size, {static_cast<const std::byte*>(from)},
                                          {CL_COMMAND_WRITE_BUFFER, command.waits}, EventUse::Report);
  return read_buffer(queue, *between, 0, {static_cast<std::byte*>(to), size}, {command.type, {&written, 1}});
}

Ref<Event> copy(Queue& queue, void* to, const void* from, size_t size, const CommandInfo& command,
                EventUse event) {
  const SvmPointer destination = part(queue, to, size);
  const SvmPointer source = part(queue, from, size);
  // The host may have no access to device allocations.
  if (!source) touch_source(from, size);
  if (!destination) touch_destination(to, size);
  if (size == 0) return queue.nothing(command, event);
  if (source && destination)
    return queue.enqueue(icd::copy(source.allocation, destination.allocation, source.offset,
                                   destination.offset, size, command.type),
                         command.waits, event);
  if (source)
    return read_buffer(queue, *source.allocation, source.offset, {static_cast<std::byte*>(to), size},
                       command);
  if (destination)
    return write_buffer(queue, *destination.allocation, destination.offset, size,
                        {static_cast<const std::byte*>(from)}, command, event);
  return copy_on_host(queue, to, from, size, command);
}

/// Throws Error(CL_MEM_COPY_OVERLAP).
void require_apart(const void* dst_ptr, const void* src_ptr, size_t size) {
  const auto from = reinterpret_cast<std::uintptr_t>(src_ptr);
  const auto to = reinterpret_cast<std::uintptr_t>(dst_ptr);
  require(size == 0 || (from < to ? to - from : from - to) >= size, CL_MEM_COPY_OVERLAP,
          "source and destination overlap: size is ", size, ", and they are ",
          from < to ? to - from : from - to, " bytes apart");
}

Work<protocol::FillBuffer> fill_work(const Queue& queue, void* to, const void* pattern, size_t pattern_size,
                                     size_t size, cl_command_type type) {
  const SvmPointer svm = svm_part(queue, to, size);
  const auto bytes = pattern_bytes(queue, pattern, pattern_size);
  require(svm.offset % pattern_size == 0 && size % pattern_size == 0, CL_INVALID_VALUE, "the pointer is ",
          svm.offset, " bytes into its allocation and size is ", size,
          "; both must be multiples of pattern_size, ", pattern_size);
  return fill(svm.allocation, bytes, svm.offset, size, type);
}

}  // namespace

Work<protocol::CopyBuffer> svm_copy(const Queue& queue, void* dst_ptr, const void* src_ptr, size_t size) {
  require(dst_ptr != nullptr && src_ptr != nullptr, CL_INVALID_VALUE, "dst_ptr or src_ptr is NULL");
  require_apart(dst_ptr, src_ptr, size);
  const SvmPointer destination = svm_part(queue, dst_ptr, size);
  const SvmPointer source = svm_part(queue, src_ptr, size);
  if (size == 0) return {.type = CL_COMMAND_SVM_MEMCPY, .empty = true};
  return icd::copy(source.allocation, destination.allocation, source.offset, destination.offset, size,
                   CL_COMMAND_SVM_MEMCPY);
}

Work<protocol::FillBuffer> svm_fill(const Queue& queue, void* svm_ptr, const void* pattern,
                                    size_t pattern_size, size_t size) {
  return fill_work(queue, svm_ptr, pattern, pattern_size, size, CL_COMMAND_SVM_MEMFILL);
}

Ref<Queue> svm_queue(cl_command_queue handle) {
  Ref<Queue> queue = get<Queue>(handle);
  require(queue->device()->has_svm(), CL_INVALID_OPERATION,
          "the queue's device does not support shared virtual memory");
  return queue;
}

SvmPointer svm_part(const Queue& queue, const void* pointer, size_t size) {
  SvmPointer svm = part(queue, pointer, size);
  require(static_cast<bool>(svm), CL_INVALID_VALUE, "the pointer does not point into shared virtual memory");
  return svm;
}

SvmPointer device_part(const Queue& queue, const void* pointer, size_t size) {
  SvmPointer found = part(queue, pointer, size);
  if (!found || found.allocation->in_place()) return {};
  const auto* const usm = dynamic_cast<const UsmAllocation*>(found.allocation.get());
  return usm != nullptr && usm->usm_type() == CL_MEM_TYPE_DEVICE_INTEL ? found : SvmPointer{};
}

void require_accessible(const Queue& queue, const void* pointer, size_t size, const char* name) {
  require(!device_part(queue, pointer, size), CL_INVALID_VALUE, name,
          " points into a device allocation, which the host cannot access");
}

void copy_memory(Queue& queue, bool blocking, void* to, const void* from, size_t size,
                 const CommandInfo& command, cl_event* event) {
  require(to != nullptr && from != nullptr, CL_INVALID_VALUE, "dst_ptr or src_ptr is NULL");
  require_apart(to, from, size);
  conclude(copy(queue, to, from, size, command, report_if(blocking || event != nullptr)), blocking,
           command.waits, event);
}

Ref<Event> fill_memory(Queue& queue, void* to, const void* pattern, size_t pattern_size, size_t size,
                       const CommandInfo& command, EventUse event) {
  return queue.enqueue(fill_work(queue, to, pattern, pattern_size, size, command.type), command.waits, event);
}

void* CL_API_CALL clSVMAlloc(cl_context context, cl_svm_mem_flags flags, size_t size, cl_uint alignment) try {
  const Ref<Context> owner = get<Context>(context);
  check_allocation(*owner, flags, size, alignment);
  if (flags == 0) flags = CL_MEM_READ_WRITE;
  const Ref<Memory> allocation(new SvmAllocation(owner, flags, size, std::max<size_t>(1, alignment)));
  return owner->svm().add(*allocation);
} catch (...) {
  current_status(__func__);
  return nullptr;
}

void CL_API_CALL clSVMFree(cl_context context, void* svm_pointer) try {
  get<Context>(context)->svm().release(svm_pointer);
} catch (...) {
  current_status(__func__);
}

cl_int CL_API_CALL
clEnqueueSVMFree(cl_command_queue command_queue, cl_uint num_svm_pointers, void* svm_pointers[],
                 void(CL_CALLBACK* pfn_free_func)(cl_command_queue, cl_uint, void*[], void*), void* user_data,
                 cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) try {
  const Ref<Queue> queue = svm_queue(command_queue);
  require((num_svm_pointers == 0) == (svm_pointers == nullptr), CL_INVALID_VALUE, "num_svm_pointers is ",
          num_svm_pointers,
          svm_pointers == nullptr ? " and svm_pointers is NULL" : " and svm_pointers is not NULL");
  const auto waits = wait_list(*queue->context(), num_events_in_wait_list, event_wait_list);
  const auto free = [queue, pfn_free_func, user_data,
                     pointers = std::vector<void*>(svm_pointers, svm_pointers + num_svm_pointers)]() mutable {
    if (pfn_free_func != nullptr) {
      pfn_free_func(queue.get(), static_cast<cl_uint>(pointers.size()), pointers.data(), user_data);
    } else {
      for (const void* pointer : pointers) queue->context()->svm().release(pointer);
    }
  };
  give_event(queue->call(free, {CL_COMMAND_SVM_FREE, waits}), event);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clEnqueueSVMMemcpy(cl_command_queue command_queue, cl_bool blocking_copy, void* dst_ptr,
                                      const void* src_ptr, size_t size, cl_uint num_events_in_wait_list,
                                      const cl_event* event_wait_list, cl_event* event) try {
  const Ref<Queue> queue = svm_queue(command_queue);
  const auto waits = wait_list(*queue->context(), num_events_in_wait_list, event_wait_list);
  copy_memory(*queue, blocking_copy != CL_FALSE, dst_ptr, src_ptr, size, {CL_COMMAND_SVM_MEMCPY, waits},
              event);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clEnqueueSVMMemFill(cl_command_queue command_queue, void* svm_ptr, const void* pattern,
                                       size_t pattern_size, size_t size, cl_uint num_events_in_wait_list,
                                       const cl_event* event_wait_list, cl_event* event) try {
  const Ref<Queue> queue = svm_queue(command_queue);
  const auto waits = wait_list(*queue->context(), num_events_in_wait_list, event_wait_list);
  give_event(fill_memory(*queue, svm_ptr, pattern, pattern_size, size, {CL_COMMAND_SVM_MEMFILL, waits},
                         report_if(event != nullptr)),
             event);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clEnqueueSVMMap(cl_command_queue command_queue, cl_bool blocking_map, cl_map_flags flags,
                                   void* svm_ptr, size_t size, cl_uint num_events_in_wait_list,
                                   const cl_event* event_wait_list, cl_event* event) try {
  const Ref<Queue> queue = svm_queue(command_queue);
  require(size != 0, CL_INVALID_VALUE, "size is 0");
  const SvmPointer svm = svm_part(*queue, svm_ptr, size);
  require(dynamic_cast<const UsmAllocation*>(svm.allocation.get()) == nullptr, CL_INVALID_VALUE,
          "the pointer points into unified shared memory, which is not mapped");
  check_map_flags(flags, *svm.allocation);
  const auto waits = wait_list(*queue->context(), num_events_in_wait_list, event_wait_list);
  Mapping mapping;
  mapping.flags = flags;
  mapping.origin = {svm.offset, 0, 0};
  mapping.region = {size, 1, 1};
  conclude(map(*queue, *svm.allocation, mapping, {CL_COMMAND_SVM_MAP, waits}), blocking_map != CL_FALSE,
           waits, event);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clEnqueueSVMUnmap(cl_command_queue command_queue, void* svm_ptr,
                                     cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                     cl_event* event) try {
  const Ref<Queue> queue = svm_queue(command_queue);
  const SvmPointer svm = svm_part(*queue, svm_ptr, 0);
  const auto waits = wait_list(*queue->context(), num_events_in_wait_list, event_wait_list);
  auto mapping = svm.allocation->take_mapping(svm_ptr);
  require(mapping.has_value(), CL_INVALID_VALUE, "no mapping begins at the pointer");
  give_event(unmap(*queue, *svm.allocation, std::move(*mapping), {CL_COMMAND_SVM_UNMAP, waits},
                   report_if(event != nullptr)),
             event);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clEnqueueSVMMigrateMem(cl_command_queue command_queue, cl_uint num_svm_pointers,
                                          const void** svm_pointers, const size_t* sizes,
                                          cl_mem_migration_flags flags, cl_uint num_events_in_wait_list,
                                          const cl_event* event_wait_list, cl_event* event) try {
  const Ref<Queue> queue = svm_queue(command_queue);
  require(num_svm_pointers != 0 && svm_pointers != nullptr, CL_INVALID_VALUE, "num_svm_pointers is ",
          num_svm_pointers, svm_pointers == nullptr ? " and svm_pointers is NULL" : "");
  check_migration_flags(flags);
  std::vector<SvmPointer> parts;
  std::vector<Access> ranges;
  for (cl_uint i = 0; i < num_svm_pointers; ++i) {
    const size_t size = sizes != nullptr ? sizes[i] : 0;
    const SvmPointer& part = parts.emplace_back(svm_part(*queue, svm_pointers[i], size));
    ranges.push_back(size != 0 ? Access{part.allocation.get(), part.offset, size, Access::Read}
                               : Access::all(*part.allocation, Access::Read));
  }
  const auto waits = wait_list(*queue->context(), num_events_in_wait_list, event_wait_list);
  give_event(migrate(*queue, std::move(ranges), flags, {CL_COMMAND_SVM_MIGRATE_MEM, waits},
                     report_if(event != nullptr)),
             event);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

}  // namespace clique::icd::api
