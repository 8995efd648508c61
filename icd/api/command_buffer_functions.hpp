// The functions of cl_khr_command_buffer and the extensions on top of it, and their types. The OpenCL headers
// declare different versions of them, depending on their release, so none of their declarations is used here.
//
// Since version 0.9.5 of the extension every function that records a command takes a list of properties
// behind the queue. Programs of both kinds get the same function, which finds out what it was called with
// (docs/decisions/0037-one-function-for-both-forms-of-recording.md).
#pragma once

#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <cstdint>

#include "icd/core/recordings/names.hpp"

namespace clique::icd::api {

/// cl_mutable_dispatch_config_khr.
struct DispatchConfig {
  cl_mutable_command_khr command;
  cl_uint num_args;
  cl_uint num_svm_args;
  cl_uint num_exec_infos;
  cl_uint work_dim;
  const cl_mutable_dispatch_arg_khr* arg_list;
  const cl_mutable_dispatch_arg_khr* arg_svm_list;
  const cl_mutable_dispatch_exec_info_khr* exec_info_list;
  const size_t* global_work_offset;
  const size_t* global_work_size;
  const size_t* local_work_size;
};

/// The structures before version 0.9.2 of cl_khr_command_buffer_mutable_dispatch: a configuration begins with
/// a type and a pointer to a further structure.
struct OlderDispatchConfig {
  static constexpr cl_uint kType = 1;
  cl_uint type;
  const void* next;
  DispatchConfig config;
};
struct OlderBaseConfig {
  static constexpr cl_uint kType = 0;
  cl_uint type;
  const void* next;
  cl_uint num_mutable_dispatch;
  const OlderDispatchConfig* mutable_dispatch_list;
};

/// The type of a function that records a command with these arguments of its own: since version 0.9.5.
template <typename... Own>
using RecordFunction = cl_int CL_API_CALL(cl_command_buffer_khr, cl_command_queue, const CommandProperties*,
                                          Own..., cl_uint, const cl_sync_point_khr*, cl_sync_point_khr*,
                                          cl_mutable_command_khr*);
/// The same before version 0.9.5. Only clCommandNDRangeKernelKHR had properties then.
template <typename... Own>
using OlderRecordFunction = cl_int CL_API_CALL(cl_command_buffer_khr, cl_command_queue, Own..., cl_uint,
                                               const cl_sync_point_khr*, cl_sync_point_khr*,
                                               cl_mutable_command_khr*);
/// Both types of one function, of which programs have one or the other.
template <typename... Own>
struct Forms {
  using Newer = RecordFunction<Own...>;
  using Older = OlderRecordFunction<Own...>;
};
using BarrierForms = Forms<>;
using CopyBufferForms = Forms<cl_mem, cl_mem, size_t, size_t, size_t>;
using CopyBufferRectForms =
    Forms<cl_mem, cl_mem, const size_t*, const size_t*, const size_t*, size_t, size_t, size_t, size_t>;
using CopyBufferToImageForms = Forms<cl_mem, cl_mem, size_t, const size_t*, const size_t*>;
using CopyImageForms = Forms<cl_mem, cl_mem, const size_t*, const size_t*, const size_t*>;
using CopyImageToBufferForms = Forms<cl_mem, cl_mem, const size_t*, const size_t*, size_t>;
using FillBufferForms = Forms<cl_mem, const void*, size_t, size_t, size_t>;
using FillImageForms = Forms<cl_mem, const void*, const size_t*, const size_t*>;
using SvmMemcpyForms = Forms<void*, const void*, size_t>;
using SvmMemFillForms = Forms<void*, const void*, size_t, size_t>;
using UpdateFunction = cl_int CL_API_CALL(cl_command_buffer_khr, cl_uint, const UpdateType*, const void**);
using OlderUpdateFunction = cl_int CL_API_CALL(cl_command_buffer_khr, const OlderBaseConfig*);

/// An argument that is an integer or a pointer, as a register or a place of the stack holds it: what an
/// integer of 32 bits leaves undefined in it is not looked at.
using Word = std::uintptr_t;
/// The largest count in a word. Larger words are addresses, since no process has memory below 64 KiB.
inline constexpr Word kLargestCount = 1U << 16U;

cl_command_buffer_khr CL_API_CALL clCreateCommandBufferKHR(cl_uint num_queues, const cl_command_queue* queues,
                                                           const cl_command_buffer_properties_khr* properties,
                                                           cl_int* errcode_ret);
cl_int CL_API_CALL clFinalizeCommandBufferKHR(cl_command_buffer_khr command_buffer);
cl_int CL_API_CALL clRetainCommandBufferKHR(cl_command_buffer_khr command_buffer);
cl_int CL_API_CALL clReleaseCommandBufferKHR(cl_command_buffer_khr command_buffer);
cl_int CL_API_CALL clEnqueueCommandBufferKHR(cl_uint num_queues, cl_command_queue* queues,
                                             cl_command_buffer_khr command_buffer,
                                             cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                             cl_event* event);
cl_int CL_API_CALL clGetCommandBufferInfoKHR(cl_command_buffer_khr command_buffer,
                                             cl_command_buffer_info_khr param_name, size_t param_value_size,
                                             void* param_value, size_t* param_value_size_ret);
cl_command_buffer_khr CL_API_CALL clRemapCommandBufferKHR(cl_command_buffer_khr command_buffer,
                                                          cl_bool automatic, cl_uint num_queues,
                                                          const cl_command_queue* queues, cl_uint num_handles,
                                                          const cl_mutable_command_khr* handles,
                                                          cl_mutable_command_khr* handles_ret,
                                                          cl_int* errcode_ret);
cl_int CL_API_CALL clGetMutableCommandInfoKHR(cl_mutable_command_khr command,
                                              cl_mutable_command_info_khr param_name, size_t param_value_size,
                                              void* param_value, size_t* param_value_size_ret);
cl_int CL_API_CALL clCommandNDRangeKernelKHR(
    cl_command_buffer_khr command_buffer, cl_command_queue command_queue, const CommandProperties* properties,
    cl_kernel kernel, cl_uint work_dim, const size_t* global_work_offset, const size_t* global_work_size,
    const size_t* local_work_size, cl_uint num_sync_points_in_wait_list,
    const cl_sync_point_khr* sync_point_wait_list, cl_sync_point_khr* sync_point,
    cl_mutable_command_khr* mutable_handle);

// The functions with two forms. The words are the arguments of the newer form, or those of the older one,
// with which the last words are not arguments at all, but whatever the caller has there: a function must
// neither use nor change them then.

cl_int CL_API_CALL clUpdateMutableCommandsKHR(cl_command_buffer_khr command_buffer, Word w0, Word w1,
                                              Word w2);
cl_int CL_API_CALL clCommandBarrierWithWaitListKHR(cl_command_buffer_khr command_buffer,
                                                   cl_command_queue command_queue, Word w0, Word w1, Word w2,
                                                   Word w3, Word w4);
cl_int CL_API_CALL clCommandCopyBufferKHR(cl_command_buffer_khr command_buffer,
                                          cl_command_queue command_queue, Word w0, Word w1, Word w2, Word w3,
                                          Word w4, Word w5, Word w6, Word w7, Word w8, Word w9);
cl_int CL_API_CALL clCommandCopyBufferRectKHR(cl_command_buffer_khr command_buffer,
                                              cl_command_queue command_queue, Word w0, Word w1, Word w2,
                                              Word w3, Word w4, Word w5, Word w6, Word w7, Word w8, Word w9,
                                              Word w10, Word w11, Word w12, Word w13);
cl_int CL_API_CALL clCommandCopyBufferToImageKHR(cl_command_buffer_khr command_buffer,
                                                 cl_command_queue command_queue, Word w0, Word w1, Word w2,
                                                 Word w3, Word w4, Word w5, Word w6, Word w7, Word w8,
                                                 Word w9);
cl_int CL_API_CALL clCommandCopyImageKHR(cl_command_buffer_khr command_buffer, cl_command_queue command_queue,
                                         Word w0, Word w1, Word w2, Word w3, Word w4, Word w5, Word w6,
                                         Word w7, Word w8, Word w9);
cl_int CL_API_CALL clCommandCopyImageToBufferKHR(cl_command_buffer_khr command_buffer,
                                                 cl_command_queue command_queue, Word w0, Word w1, Word w2,
                                                 Word w3, Word w4, Word w5, Word w6, Word w7, Word w8,
                                                 Word w9);
cl_int CL_API_CALL clCommandFillBufferKHR(cl_command_buffer_khr command_buffer,
                                          cl_command_queue command_queue, Word w0, Word w1, Word w2, Word w3,
                                          Word w4, Word w5, Word w6, Word w7, Word w8, Word w9);
cl_int CL_API_CALL clCommandFillImageKHR(cl_command_buffer_khr command_buffer, cl_command_queue command_queue,
                                         Word w0, Word w1, Word w2, Word w3, Word w4, Word w5, Word w6,
                                         Word w7, Word w8);
cl_int CL_API_CALL clCommandSVMMemcpyKHR(cl_command_buffer_khr command_buffer, cl_command_queue command_queue,
                                         Word w0, Word w1, Word w2, Word w3, Word w4, Word w5, Word w6,
                                         Word w7);
cl_int CL_API_CALL clCommandSVMMemFillKHR(cl_command_buffer_khr command_buffer,
                                          cl_command_queue command_queue, Word w0, Word w1, Word w2, Word w3,
                                          Word w4, Word w5, Word w6, Word w7, Word w8);

}  // namespace clique::icd::api
