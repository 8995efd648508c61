// cl_intel_unified_shared_memory, version 1.0 (icd/core/objects/svm_allocation.hpp).
#include <algorithm>
#include <bit>
#include <limits>
#include <span>
#include <vector>

#include "icd/api/arguments.hpp"
#include "icd/api/entry_points.hpp"
#include "icd/api/properties.hpp"
#include "icd/core/commands/host_transfers.hpp"
#include "icd/core/commands/work.hpp"
#include "icd/core/objects/svm_allocation.hpp"
#include "icd/core/programs/kernel.hpp"

namespace clique::icd::api {

namespace {

/// Bytes of the largest data types, long16 and double16: the alignment if the program asks for none. The
/// extension allows no greater alignments, but other drivers accept them, and HIP's runtime aligns host
/// memory to pages.
constexpr cl_uint kLargestType = 128;

constexpr cl_bitfield kPlacements =
    CL_MEM_ALLOC_INITIAL_PLACEMENT_DEVICE_INTEL | CL_MEM_ALLOC_INITIAL_PLACEMENT_HOST_INTEL;

/// The flags in a list of properties. Throws Error(CL_INVALID_PROPERTY).
/// @param placements the flags about the initial placement that are allowed, of which one may be given
cl_bitfield allocation_flags(const cl_properties* properties, cl_bitfield placements) {
  const cl_bitfield allowed = CL_MEM_ALLOC_WRITE_COMBINED_INTEL | placements;
  cl_bitfield flags = 0;
  for_each_property(property_list(properties), CL_INVALID_PROPERTY,
                    [&](cl_properties name, cl_properties value) {
                      require(name == CL_MEM_ALLOC_FLAGS_INTEL, CL_INVALID_PROPERTY, "property ", Hex{name},
                              " is not supported");
                      require((value & ~allowed) == 0 && at_most_one(value, placements), CL_INVALID_PROPERTY,
                              "CL_MEM_ALLOC_FLAGS_INTEL is ", Hex{value}, "; allowed are ", Hex{allowed},
                              ", of which at most one about the initial placement");
                      flags = value;
                    });
  return flags;
}

/// Allocates, once the handles have been checked, and whether a device supports it.
/// @param users the devices that can use the allocation
/// @param device the one that it belongs to; null: none
void* allocate(cl_unified_shared_memory_type_intel type, const Ref<Context>& context,
               std::span<const Ref<Device>> users, const Ref<Device>& device, const cl_properties* properties,
               size_t size, cl_uint alignment) {
  require(alignment == 0 || std::has_single_bit(alignment), CL_INVALID_VALUE, "alignment is ", alignment,
          "; it must be a power of two");
  const cl_bitfield flags = allocation_flags(properties, type == CL_MEM_TYPE_SHARED_INTEL ? kPlacements : 0);
  cl_ulong largest = std::numeric_limits<cl_ulong>::max();
  for (const Ref<Device>& user : users) largest = std::min(largest, user->largest_on_one());
  require(size != 0 && size <= largest, CL_INVALID_BUFFER_SIZE, "size is ", size,
          "; the devices can allocate 1 to ", largest, " bytes");
  const Ref<Memory> allocation(
      new UsmAllocation(type, context, device, flags, size, std::max(alignment, kLargestType)));
  return context->svm().add(*allocation);
}

/// The devices of the context that can use this process's memory.
std::vector<Ref<Device>> mapping_devices(const Context& context) {
  std::vector<Ref<Device>> devices = context.devices();
  std::erase_if(devices, [](const Ref<Device>& device) { return !device->maps_host_memory(); });
  return devices;
}

/// The allocation into which a pointer points; empty if there is none.
struct UsmPointer {
  Ref<Memory> memory;  ///< keeps the allocation
  const UsmAllocation* allocation = nullptr;
};

UsmPointer usm_at(Context& context, const void* pointer) {
  UsmPointer result{context.svm().find(pointer).allocation};
  result.allocation = dynamic_cast<const UsmAllocation*>(result.memory.get());
  return result;
}

void free_allocation(Context& context, void* pointer) {
  if (pointer == nullptr) return;
  const UsmPointer found = usm_at(context, pointer);
  require(found.allocation != nullptr && found.allocation->host_ptr() == pointer, CL_INVALID_VALUE,
          "no allocation of unified shared memory of this context begins at ptr");
  context.svm().release(pointer);
}

}  // namespace

void* CL_API_CALL clHostMemAllocINTEL(cl_context context, const cl_properties* properties, size_t size,
                                      cl_uint alignment, cl_int* errcode_ret) try {
  const Ref<Context> owner = get<Context>(context);
  const std::vector<Ref<Device>> users = mapping_devices(*owner);
  require(!users.empty(), CL_INVALID_OPERATION, "no device of the context supports host allocations");
  void* const address = allocate(CL_MEM_TYPE_HOST_INTEL, owner, users, nullptr, properties, size, alignment);
  if (errcode_ret != nullptr) *errcode_ret = CL_SUCCESS;
  return address;
}
CLIQUE_CATCH_ERRCODE(errcode_ret)

void* CL_API_CALL clDeviceMemAllocINTEL(cl_context context, cl_device_id device,
                                        const cl_properties* properties, size_t size, cl_uint alignment,
                                        cl_int* errcode_ret) try {
  const Ref<Context> owner = get<Context>(context);
  const Ref<Device> on = get<Device>(device);
  require(owner->has(*on), CL_INVALID_DEVICE, "the device does not belong to the context");
  require(on->has_svm(), CL_INVALID_OPERATION, "the device does not support device allocations");
  void* const address = allocate(CL_MEM_TYPE_DEVICE_INTEL, owner, {&on, 1}, on, properties, size, alignment);
  if (errcode_ret != nullptr) *errcode_ret = CL_SUCCESS;
  return address;
}
CLIQUE_CATCH_ERRCODE(errcode_ret)

void* CL_API_CALL clSharedMemAllocINTEL(cl_context context, cl_device_id device,
                                        const cl_properties* properties, size_t size, cl_uint alignment,
                                        cl_int* errcode_ret) try {
  const Ref<Context> owner = get<Context>(context);
  const Ref<Device> on = device != nullptr ? get<Device>(device) : nullptr;
  require(!on || owner->has(*on), CL_INVALID_DEVICE, "the device does not belong to the context");
  std::vector<Ref<Device>> users = mapping_devices(*owner);
  if (on) std::erase_if(users, [&](const Ref<Device>& user) { return user != on; });
  require(!users.empty(), CL_INVALID_OPERATION,
          on ? "the device does not support shared allocations"
             : "no device of the context supports shared allocations");
  void* const address = allocate(CL_MEM_TYPE_SHARED_INTEL, owner, users, on, properties, size, alignment);
  if (errcode_ret != nullptr) *errcode_ret = CL_SUCCESS;
  return address;
}
CLIQUE_CATCH_ERRCODE(errcode_ret)

cl_int CL_API_CALL clMemFreeINTEL(cl_context context, void* ptr) try {
  free_allocation(*get<Context>(context), ptr);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clMemBlockingFreeINTEL(cl_context context, void* ptr) try {
  const Ref<Context> owner = get<Context>(context);
  // A kernel may use an allocation that none of its arguments names, so all commands are waited for.
  if (usm_at(*owner, ptr).allocation != nullptr) {
    for (const cl_command_queue handle : owner->queues()) {
      const Ref<Queue> queue = find<Queue>(handle);
      if (queue && queue->context() == owner) queue->wait_for_commands();
    }
  }
  free_allocation(*owner, ptr);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clGetMemAllocInfoINTEL(cl_context context, const void* ptr, cl_uint param_name,
                                          size_t param_value_size, void* param_value,
                                          size_t* param_value_size_ret) try {
  const InfoWriter write(param_value_size, param_value, param_value_size_ret);
  const UsmPointer found = usm_at(*get<Context>(context), ptr);
  const UsmAllocation* const allocation = found.allocation;
  switch (param_name) {
    case CL_MEM_ALLOC_TYPE_INTEL:
      write(allocation != nullptr ? allocation->usm_type() : cl_uint{CL_MEM_TYPE_UNKNOWN_INTEL});
      break;
    case CL_MEM_ALLOC_BASE_PTR_INTEL:
      write(allocation != nullptr ? allocation->host_ptr() : nullptr);
      break;
    case CL_MEM_ALLOC_SIZE_INTEL:
      write(allocation != nullptr ? allocation->size() : size_t{0});
      break;
    case CL_MEM_ALLOC_DEVICE_INTEL:
      write(allocation != nullptr ? static_cast<cl_device_id>(allocation->device().get()) : nullptr);
      break;
    case CL_MEM_ALLOC_FLAGS_INTEL:
      write(allocation != nullptr ? allocation->allocation_flags() : cl_bitfield{0});
      break;
    default:
      throw unknown_param(param_name);
  }
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clSetKernelArgMemPointerINTEL(cl_kernel kernel, cl_uint arg_index,
                                                 const void* arg_value) try {
  get<Kernel>(kernel)->set_arg_svm(arg_index, arg_value);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clEnqueueMemFillINTEL(cl_command_queue command_queue, void* dst_ptr, const void* pattern,
                                         size_t pattern_size, size_t size, cl_uint num_events_in_wait_list,
                                         const cl_event* event_wait_list, cl_event* event) try {
  const Ref<Queue> queue = get<Queue>(command_queue);
  const auto waits = wait_list(*queue->context(), num_events_in_wait_list, event_wait_list);
  give_event(fill_memory(*queue, dst_ptr, pattern, pattern_size, size, {CL_COMMAND_MEMFILL_INTEL, waits},
                         report_if(event != nullptr)),
             event);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clEnqueueMemcpyINTEL(cl_command_queue command_queue, cl_bool blocking, void* dst_ptr,
                                        const void* src_ptr, size_t size, cl_uint num_events_in_wait_list,
                                        const cl_event* event_wait_list, cl_event* event) try {
  const Ref<Queue> queue = get<Queue>(command_queue);
  const auto waits = wait_list(*queue->context(), num_events_in_wait_list, event_wait_list);
  copy_memory(*queue, blocking != CL_FALSE, dst_ptr, src_ptr, size, {CL_COMMAND_MEMCPY_INTEL, waits}, event);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clEnqueueMigrateMemINTEL(cl_command_queue command_queue, const void* ptr, size_t size,
                                            cl_mem_migration_flags flags, cl_uint num_events_in_wait_list,
                                            const cl_event* event_wait_list, cl_event* event) try {
  const Ref<Queue> queue = get<Queue>(command_queue);
  check_migration_flags(flags);
  const SvmPointer part = svm_part(*queue, ptr, size);
  const auto waits = wait_list(*queue->context(), num_events_in_wait_list, event_wait_list);
  std::vector<Access> ranges;
  if (size != 0 && !part.allocation->in_place())
    ranges.push_back({part.allocation.get(), part.offset, size, Access::Read});
  give_event(migrate(*queue, std::move(ranges), flags, {CL_COMMAND_MIGRATEMEM_INTEL, waits},
                     report_if(event != nullptr)),
             event);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clEnqueueMemAdviseINTEL(cl_command_queue command_queue, const void* ptr, size_t size,
                                           cl_uint advice, cl_uint num_events_in_wait_list,
                                           const cl_event* event_wait_list, cl_event* event) try {
  const Ref<Queue> queue = get<Queue>(command_queue);
  svm_part(*queue, ptr, size);
  // The extension defines no advice.
  require(advice == 0, CL_INVALID_VALUE, "advice is ", Hex{advice}, "; only 0 is supported");
  const auto waits = wait_list(*queue->context(), num_events_in_wait_list, event_wait_list);
  give_event(queue->nothing({CL_COMMAND_MEMADVISE_INTEL, waits}, report_if(event != nullptr)), event);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

}  // namespace clique::icd::api
