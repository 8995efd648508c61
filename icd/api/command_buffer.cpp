// cl_khr_command_buffer, version 0.9.1.
#include "icd/core/recordings/command_buffer.hpp"

#include <type_traits>

#include "icd/api/entry_points.hpp"
#include "icd/api/properties.hpp"
#include "icd/api/works.hpp"

namespace clique::icd::api {

namespace {

using SyncPoints = CommandBuffer::SyncPoints;

/// The common part of the functions that record. add(object, queue, sync_points) records the command and
/// returns its sync point.
template <typename Add>
cl_int record(cl_command_buffer_khr command_buffer, cl_command_queue command_queue, cl_uint count,
              const cl_sync_point_khr* waits, cl_sync_point_khr* sync_point,
              const cl_mutable_command_khr* mutable_handle, Add&& add) {
  const Ref<CommandBuffer> object = get<CommandBuffer>(command_buffer);
  require(command_queue == nullptr, CL_INVALID_COMMAND_QUEUE,
          "command_queue is not NULL; the command buffer has a single queue");
  require(mutable_handle == nullptr, CL_INVALID_VALUE,
          "mutable_handle is not NULL; recorded commands cannot be changed");
  object->require_recording();
  require((count == 0) == (waits == nullptr), CL_INVALID_SYNC_POINT_WAIT_LIST_KHR,
          "num_sync_points_in_wait_list is ", count,
          waits == nullptr ? " and sync_point_wait_list is NULL" : " and sync_point_wait_list is not NULL");
  const SyncPoints points(waits, count);
  object->require_sync_points(points);
  const cl_sync_point_khr point = add(*object, *object->queue(), points);
  if (sync_point != nullptr) *sync_point = point;
  return CL_SUCCESS;
}

}  // namespace

cl_command_buffer_khr CL_API_CALL clCreateCommandBufferKHR(cl_uint num_queues, const cl_command_queue* queues,
                                                           const cl_command_buffer_properties_khr* properties,
                                                           cl_int* errcode_ret) try {
  require(num_queues == 1 && queues != nullptr, CL_INVALID_VALUE, "num_queues is ", num_queues,
          queues == nullptr ? " and queues is NULL" : "", "; a command buffer has one queue");
  const Ref<Queue> queue = get<Queue>(queues[0]);
  auto list = property_list(properties);
  cl_command_buffer_flags_khr flags = 0;
  for_each_property(list, CL_INVALID_VALUE, [&](auto name, auto value) {
    require(name == CL_COMMAND_BUFFER_FLAGS_KHR, CL_INVALID_VALUE, "property ",
            Hex{static_cast<std::uint64_t>(name)}, " is not defined");
    require((value & ~cl_properties{CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR}) == 0, CL_INVALID_VALUE,
            "CL_COMMAND_BUFFER_FLAGS_KHR is ", Hex{static_cast<std::uint64_t>(value)},
            "; only CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR is supported");
    flags = value;
  });
  return created(new CommandBuffer(queue, flags, std::move(list)), errcode_ret);
}
CLIQUE_CATCH_ERRCODE(errcode_ret)

cl_int CL_API_CALL clFinalizeCommandBufferKHR(cl_command_buffer_khr command_buffer) try {
  get<CommandBuffer>(command_buffer)->finalise();
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clRetainCommandBufferKHR(cl_command_buffer_khr command_buffer) try {
  get<CommandBuffer>(command_buffer)->retain();
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clReleaseCommandBufferKHR(cl_command_buffer_khr command_buffer) try {
  get<CommandBuffer>(command_buffer)->release();
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clEnqueueCommandBufferKHR(cl_uint num_queues, cl_command_queue* queues,
                                             cl_command_buffer_khr command_buffer,
                                             cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                             cl_event* event) try {
  const Ref<CommandBuffer> object = get<CommandBuffer>(command_buffer);
  require((num_queues == 0) == (queues == nullptr), CL_INVALID_VALUE, "num_queues is ", num_queues,
          queues == nullptr ? " and queues is NULL" : " and queues is not NULL");
  require(num_queues <= 1, CL_INVALID_VALUE, "num_queues is ", num_queues,
          "; commands were recorded for one queue");
  const Queue& own = *object->queue();
  const Ref<Queue> queue = queues != nullptr ? get<Queue>(queues[0]) : object->queue();
  require(queue->context() == own.context(), CL_INVALID_CONTEXT, "the queue belongs to another context");
  require(queue->device() == own.device() && queue->properties() == own.properties(),
          CL_INCOMPATIBLE_COMMAND_QUEUE_KHR,
          "the queue has another device or other properties than the command buffer's");
  const auto waits = wait_list(*queue->context(), num_events_in_wait_list, event_wait_list);
  give_event(object->enqueue(*queue, waits), event);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clCommandBarrierWithWaitListKHR(cl_command_buffer_khr command_buffer,
                                                   cl_command_queue command_queue,
                                                   cl_uint num_sync_points_in_wait_list,
                                                   const cl_sync_point_khr* sync_point_wait_list,
                                                   cl_sync_point_khr* sync_point,
                                                   cl_mutable_command_khr* mutable_handle) try {
  return record(command_buffer, command_queue, num_sync_points_in_wait_list, sync_point_wait_list, sync_point,
                mutable_handle, [](CommandBuffer& object, const Queue& /*queue*/, SyncPoints waits) {
                  return object.record_barrier(waits);
                });
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clCommandCopyBufferKHR(cl_command_buffer_khr command_buffer,
                                          cl_command_queue command_queue, cl_mem src_buffer,
                                          cl_mem dst_buffer, size_t src_offset, size_t dst_offset,
                                          size_t size, cl_uint num_sync_points_in_wait_list,
                                          const cl_sync_point_khr* sync_point_wait_list,
                                          cl_sync_point_khr* sync_point,
                                          cl_mutable_command_khr* mutable_handle) try {
  return record(command_buffer, command_queue, num_sync_points_in_wait_list, sync_point_wait_list, sync_point,
                mutable_handle, [&](CommandBuffer& object, const Queue& queue, SyncPoints waits) {
                  return object.record(
                      copy_buffer(queue, src_buffer, dst_buffer, src_offset, dst_offset, size), waits);
                });
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clCommandCopyBufferRectKHR(
    cl_command_buffer_khr command_buffer, cl_command_queue command_queue, cl_mem src_buffer,
    cl_mem dst_buffer, const size_t* src_origin, const size_t* dst_origin, const size_t* region,
    size_t src_row_pitch, size_t src_slice_pitch, size_t dst_row_pitch, size_t dst_slice_pitch,
    cl_uint num_sync_points_in_wait_list, const cl_sync_point_khr* sync_point_wait_list,
    cl_sync_point_khr* sync_point, cl_mutable_command_khr* mutable_handle) try {
  return record(command_buffer, command_queue, num_sync_points_in_wait_list, sync_point_wait_list, sync_point,
                mutable_handle, [&](CommandBuffer& object, const Queue& queue, SyncPoints waits) {
                  return object.record(
                      copy_buffer_rect(queue, src_buffer, dst_buffer, src_origin, dst_origin, region,
                                       src_row_pitch, src_slice_pitch, dst_row_pitch, dst_slice_pitch),
                      waits);
                });
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clCommandCopyBufferToImageKHR(
    cl_command_buffer_khr command_buffer, cl_command_queue command_queue, cl_mem src_buffer, cl_mem dst_image,
    size_t src_offset, const size_t* dst_origin, const size_t* region, cl_uint num_sync_points_in_wait_list,
    const cl_sync_point_khr* sync_point_wait_list, cl_sync_point_khr* sync_point,
    cl_mutable_command_khr* mutable_handle) try {
  return record(command_buffer, command_queue, num_sync_points_in_wait_list, sync_point_wait_list, sync_point,
                mutable_handle, [&](CommandBuffer& object, const Queue& queue, SyncPoints waits) {
                  return object.record(
                      copy_buffer_to_image(queue, src_buffer, dst_image, src_offset, dst_origin, region),
                      waits);
                });
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clCommandCopyImageKHR(cl_command_buffer_khr command_buffer, cl_command_queue command_queue,
                                         cl_mem src_image, cl_mem dst_image, const size_t* src_origin,
                                         const size_t* dst_origin, const size_t* region,
                                         cl_uint num_sync_points_in_wait_list,
                                         const cl_sync_point_khr* sync_point_wait_list,
                                         cl_sync_point_khr* sync_point,
                                         cl_mutable_command_khr* mutable_handle) try {
  return record(command_buffer, command_queue, num_sync_points_in_wait_list, sync_point_wait_list, sync_point,
                mutable_handle, [&](CommandBuffer& object, const Queue& queue, SyncPoints waits) {
                  return object.record(
                      copy_image(queue, src_image, dst_image, src_origin, dst_origin, region), waits);
                });
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clCommandCopyImageToBufferKHR(
    cl_command_buffer_khr command_buffer, cl_command_queue command_queue, cl_mem src_image, cl_mem dst_buffer,
    const size_t* src_origin, const size_t* region, size_t dst_offset, cl_uint num_sync_points_in_wait_list,
    const cl_sync_point_khr* sync_point_wait_list, cl_sync_point_khr* sync_point,
    cl_mutable_command_khr* mutable_handle) try {
  return record(command_buffer, command_queue, num_sync_points_in_wait_list, sync_point_wait_list, sync_point,
                mutable_handle, [&](CommandBuffer& object, const Queue& queue, SyncPoints waits) {
                  return object.record(
                      copy_image_to_buffer(queue, src_image, dst_buffer, src_origin, region, dst_offset),
                      waits);
                });
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clCommandFillBufferKHR(cl_command_buffer_khr command_buffer,
                                          cl_command_queue command_queue, cl_mem buffer, const void* pattern,
                                          size_t pattern_size, size_t offset, size_t size,
                                          cl_uint num_sync_points_in_wait_list,
                                          const cl_sync_point_khr* sync_point_wait_list,
                                          cl_sync_point_khr* sync_point,
                                          cl_mutable_command_khr* mutable_handle) try {
  return record(command_buffer, command_queue, num_sync_points_in_wait_list, sync_point_wait_list, sync_point,
                mutable_handle, [&](CommandBuffer& object, const Queue& queue, SyncPoints waits) {
                  return object.record(fill_buffer(queue, buffer, pattern, pattern_size, offset, size),
                                       waits);
                });
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clCommandFillImageKHR(cl_command_buffer_khr command_buffer, cl_command_queue command_queue,
                                         cl_mem image, const void* fill_color, const size_t* origin,
                                         const size_t* region, cl_uint num_sync_points_in_wait_list,
                                         const cl_sync_point_khr* sync_point_wait_list,
                                         cl_sync_point_khr* sync_point,
                                         cl_mutable_command_khr* mutable_handle) try {
  return record(command_buffer, command_queue, num_sync_points_in_wait_list, sync_point_wait_list, sync_point,
                mutable_handle, [&](CommandBuffer& object, const Queue& queue, SyncPoints waits) {
                  return object.record(fill_image(queue, image, fill_color, origin, region), waits);
                });
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clCommandNDRangeKernelKHR(
    cl_command_buffer_khr command_buffer, cl_command_queue command_queue,
    const NdRangeCommandProperties* properties, cl_kernel kernel, cl_uint work_dim,
    const size_t* global_work_offset, const size_t* global_work_size, const size_t* local_work_size,
    cl_uint num_sync_points_in_wait_list, const cl_sync_point_khr* sync_point_wait_list,
    cl_sync_point_khr* sync_point, cl_mutable_command_khr* mutable_handle) try {
  get<CommandBuffer>(command_buffer);
  require(properties == nullptr || *properties == 0, CL_INVALID_VALUE,
          "properties are not empty; none is defined");
  return record(command_buffer, command_queue, num_sync_points_in_wait_list, sync_point_wait_list, sync_point,
                mutable_handle, [&](CommandBuffer& object, const Queue& queue, SyncPoints waits) {
                  const Ref<Kernel> launched = kernel_for(queue, kernel);
                  return object.record(*launched,
                                       nd_range(queue, *launched, work_dim, global_work_offset,
                                                global_work_size, local_work_size),
                                       waits);
                });
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clGetCommandBufferInfoKHR(cl_command_buffer_khr command_buffer,
                                             cl_command_buffer_info_khr param_name, size_t param_value_size,
                                             void* param_value, size_t* param_value_size_ret) try {
  const Ref<CommandBuffer> object = get<CommandBuffer>(command_buffer);
  const InfoWriter write(param_value_size, param_value, param_value_size_ret);
  switch (param_name) {
    case CL_COMMAND_BUFFER_NUM_QUEUES_KHR:
      write(cl_uint{1});
      break;
    case CL_COMMAND_BUFFER_QUEUES_KHR:
      write(static_cast<cl_command_queue>(object->queue().get()));
      break;
    case CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR:
      write(object->api_references());
      break;
    case CL_COMMAND_BUFFER_STATE_KHR:
      write(object->state());
      break;
    case CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR:
      write(object->properties());
      break;
    default:
      throw unknown_param(param_name);
  }
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

// The oldest OpenCL headers, which declare this version of the extension and define no macro for it, confirm
// that the declarations are right.
#ifndef CL_KHR_COMMAND_BUFFER_EXTENSION_VERSION
#define CLIQUE_SAME_TYPE(name) static_assert(std::is_same_v<decltype(api::name), decltype(::name)>)
CLIQUE_SAME_TYPE(clCreateCommandBufferKHR);
CLIQUE_SAME_TYPE(clFinalizeCommandBufferKHR);
CLIQUE_SAME_TYPE(clRetainCommandBufferKHR);
CLIQUE_SAME_TYPE(clReleaseCommandBufferKHR);
CLIQUE_SAME_TYPE(clEnqueueCommandBufferKHR);
CLIQUE_SAME_TYPE(clCommandBarrierWithWaitListKHR);
CLIQUE_SAME_TYPE(clCommandCopyBufferKHR);
CLIQUE_SAME_TYPE(clCommandCopyBufferRectKHR);
CLIQUE_SAME_TYPE(clCommandCopyBufferToImageKHR);
CLIQUE_SAME_TYPE(clCommandCopyImageKHR);
CLIQUE_SAME_TYPE(clCommandCopyImageToBufferKHR);
CLIQUE_SAME_TYPE(clCommandFillBufferKHR);
CLIQUE_SAME_TYPE(clCommandFillImageKHR);
CLIQUE_SAME_TYPE(clCommandNDRangeKernelKHR);
CLIQUE_SAME_TYPE(clGetCommandBufferInfoKHR);
#undef CLIQUE_SAME_TYPE
#endif

}  // namespace clique::icd::api
