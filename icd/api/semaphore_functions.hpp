// The functions of cl_khr_semaphore, and the one of cl_khr_external_semaphore that programs look up together
// with them. Loaders do not export them, and headers may be told to leave them out.
#pragma once

#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <cstddef>

namespace clique::icd::api {

/// CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR, which headers of version 0.9.0 of the extension do not have. 0 ends
/// the list.
inline constexpr cl_semaphore_properties_khr kSemaphoreDevices = 0x2053;

cl_semaphore_khr CL_API_CALL clCreateSemaphoreWithPropertiesKHR(cl_context context,
                                                                const cl_semaphore_properties_khr* sema_props,
                                                                cl_int* errcode_ret);
cl_int CL_API_CALL clEnqueueWaitSemaphoresKHR(cl_command_queue command_queue, cl_uint num_sema_objects,
                                              const cl_semaphore_khr* sema_objects,
                                              const cl_semaphore_payload_khr* sema_payload_list,
                                              cl_uint num_events_in_wait_list,
                                              const cl_event* event_wait_list, cl_event* event);
cl_int CL_API_CALL clEnqueueSignalSemaphoresKHR(cl_command_queue command_queue, cl_uint num_sema_objects,
                                                const cl_semaphore_khr* sema_objects,
                                                const cl_semaphore_payload_khr* sema_payload_list,
                                                cl_uint num_events_in_wait_list,
                                                const cl_event* event_wait_list, cl_event* event);
cl_int CL_API_CALL clGetSemaphoreInfoKHR(cl_semaphore_khr sema_object, cl_semaphore_info_khr param_name,
                                         size_t param_value_size, void* param_value,
                                         size_t* param_value_size_ret);
cl_int CL_API_CALL clRetainSemaphoreKHR(cl_semaphore_khr sema_object);
cl_int CL_API_CALL clReleaseSemaphoreKHR(cl_semaphore_khr sema_object);
/// Semaphores have no handles of other APIs, so no type is valid for it.
cl_int CL_API_CALL clGetSemaphoreHandleForTypeKHR(cl_semaphore_khr sema_object, cl_device_id device,
                                                  cl_external_semaphore_handle_type_khr handle_type,
                                                  size_t handle_size, void* handle_ptr,
                                                  size_t* handle_size_ret);

}  // namespace clique::icd::api
