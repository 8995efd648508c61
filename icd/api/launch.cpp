// Section 5.10: running kernels.
#include "icd/api/boundary.hpp"
#include "icd/api/entry_points.hpp"
#include "icd/api/works.hpp"
#include "icd/core/programs/program.hpp"

namespace clique::icd::api {

namespace {

void require_dimensions(const LaunchLimits& limits, cl_uint work_dim) {
  require(work_dim >= 1 && work_dim <= limits.dimensions, CL_INVALID_WORK_DIMENSION, "work_dim is ", work_dim,
          "; this device supports 1 to ", limits.dimensions);
}

/// Checks global_work_size and global_work_offset, and sets them in the range.
void take_global(NdRange& range, const LaunchLimits& limits, const size_t* offset, const size_t* size) {
  for (cl_uint i = 0; i < range.dimensions; ++i) {
    range.global[i] = size != nullptr ? size[i] : 0;
    range.offset[i] = offset != nullptr ? offset[i] : 0;
    require(range.global[i] != 0 || limits.empty_ranges, CL_INVALID_GLOBAL_WORK_SIZE, "global_work_size[", i,
            "] is 0; this device does not support empty ranges");
    require(range.global[i] <= limits.largest_id, CL_INVALID_GLOBAL_WORK_SIZE, "global_work_size[", i,
            "] is ", range.global[i], "; this device supports at most ", limits.largest_id);
    require(range.offset[i] <= limits.largest_id - range.global[i], CL_INVALID_GLOBAL_OFFSET,
            "global_work_offset[", i, "] is ", range.offset[i], "; with a global_work_size of ",
            range.global[i], ", this device supports at most ", limits.largest_id - range.global[i]);
  }
}

/// Checks local_work_size, and sets it in the range.
void take_local(NdRange& range, const LaunchLimits& limits, const size_t* size) {
  const bool fixed = limits.required_group[0] != 0;
  if (size == nullptr && !fixed) return;
  size_t items = 1;
  for (cl_uint i = 0; i < 3; ++i) {
    const size_t given = i >= range.dimensions ? 1 : size != nullptr ? size[i] : limits.required_group[i];
    require(!fixed || given == limits.required_group[i], CL_INVALID_WORK_GROUP_SIZE, "local_work_size[", i,
            "] is ", given, "; the kernel requires ", limits.required_group[i]);
    require(given != 0 && given <= limits.group_size / items, CL_INVALID_WORK_GROUP_SIZE, "local_work_size[",
            i, "] is ", given, "; the kernel supports 1 to ", limits.group_size,
            " work-items in a work-group on this device");
    items *= given;
    if (i >= range.dimensions) continue;
    require(given <= limits.item_sizes[i], CL_INVALID_WORK_ITEM_SIZE, "local_work_size[", i, "] is ", given,
            "; this device supports at most ", limits.item_sizes[i]);
    require(!limits.uniform_groups || range.global[i] % given == 0, CL_INVALID_WORK_GROUP_SIZE,
            "local_work_size[", i, "] is ", given, ", which does not divide global_work_size[", i, "], ",
            range.global[i]);
    range.local[i] = given;
  }
}

}  // namespace

Ref<Kernel> kernel_for(const Queue& queue, cl_kernel kernel) {
  Ref<Kernel> object = get<Kernel>(kernel);
  require(queue.context() == object->context(), CL_INVALID_CONTEXT,
          "the queue and the kernel belong to different contexts");
  return object;
}

NdRange nd_range(const Queue& queue, const Kernel& kernel, cl_uint work_dim, const size_t* offset,
                 const size_t* global, const size_t* local) {
  const LaunchLimits& limits = kernel.on(*queue.device()).limits;
  require_dimensions(limits, work_dim);
  NdRange range{work_dim};
  take_global(range, limits, offset, global);
  if (!range.empty()) take_local(range, limits, local);
  return range;
}

cl_int CL_API_CALL clEnqueueNDRangeKernel(cl_command_queue command_queue, cl_kernel kernel, cl_uint work_dim,
                                          const size_t* global_work_offset, const size_t* global_work_size,
                                          const size_t* local_work_size, cl_uint num_events_in_wait_list,
                                          const cl_event* event_wait_list, cl_event* event) try {
  const Ref<Queue> queue = get<Queue>(command_queue);
  const Ref<Kernel> object = kernel_for(*queue, kernel);
  const auto waits = wait_list(*queue->context(), num_events_in_wait_list, event_wait_list);
  const NdRange range =
      nd_range(*queue, *object, work_dim, global_work_offset, global_work_size, local_work_size);
  give_event(object->launch(*queue, range, waits, report_if(event != nullptr)), event);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clEnqueueTask(cl_command_queue command_queue, cl_kernel kernel,
                                 cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                 cl_event* event) try {
  const Ref<Queue> queue = get<Queue>(command_queue);
  const Ref<Kernel> object = kernel_for(*queue, kernel);
  const auto waits = wait_list(*queue->context(), num_events_in_wait_list, event_wait_list);
  const auto& required = object->on(*queue->device()).limits.required_group;
  require(required[0] * required[1] * required[2] <= 1, CL_INVALID_WORK_GROUP_SIZE,
          "the kernel requires work-groups of ", required[0], " x ", required[1], " x ", required[2],
          "; a task has one work-item");
  give_event(object->launch(*queue, {}, waits, report_if(event != nullptr)), event);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

/// No device runs native kernels: the functions are on this host, the devices may be on others.
cl_int CL_API_CALL clEnqueueNativeKernel(cl_command_queue command_queue, void(CL_CALLBACK* user_func)(void*),
                                         void* args, size_t cb_args, cl_uint num_mem_objects,
                                         const cl_mem* mem_list, const void** args_mem_loc,
                                         cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                         cl_event* /*event*/) try {
  const Ref<Queue> queue = get<Queue>(command_queue);
  require(user_func != nullptr, CL_INVALID_VALUE, "user_func is NULL");
  require((args != nullptr) == (cb_args != 0), CL_INVALID_VALUE, "cb_args is ", cb_args,
          args == nullptr ? " and args is NULL" : " and args is not NULL");
  require(args != nullptr || num_mem_objects == 0, CL_INVALID_VALUE, "num_mem_objects is ", num_mem_objects,
          " and args is NULL");
  require(
      (num_mem_objects != 0) == (mem_list != nullptr) && (num_mem_objects != 0) == (args_mem_loc != nullptr),
      CL_INVALID_VALUE, "num_mem_objects is ", num_mem_objects,
      "; mem_list and args_mem_loc must be given if it is not 0, and NULL otherwise");
  wait_list(*queue->context(), num_events_in_wait_list, event_wait_list);
  throw Error(CL_INVALID_OPERATION, "the device does not run native kernels");
}
CLIQUE_CATCH_STATUS

/// cl_khr_suggested_local_work_size.
cl_int CL_API_CALL clGetKernelSuggestedLocalWorkSizeKHR(cl_command_queue command_queue, cl_kernel kernel,
                                                        cl_uint work_dim, const size_t* global_work_offset,
                                                        const size_t* global_work_size,
                                                        size_t* suggested_local_work_size) try {
  const Ref<Queue> queue = get<Queue>(command_queue);
  const Ref<Kernel> object = kernel_for(*queue, kernel);
  const LaunchLimits& limits = object->on(*queue->device()).limits;
  object->require_args();
  require_dimensions(limits, work_dim);
  NdRange range{work_dim};
  take_global(range, limits, global_work_offset, global_work_size);
  require(!range.empty(), CL_INVALID_GLOBAL_WORK_SIZE, "global_work_size contains a 0");
  require(suggested_local_work_size != nullptr, CL_INVALID_VALUE, "suggested_local_work_size is NULL");
  object->suggest_local_size(*queue->device(), range, {suggested_local_work_size, work_dim});
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

}  // namespace clique::icd::api
