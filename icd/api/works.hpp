// Commands that queues and command buffers take with the same arguments, and the checks of these. The entry
// points of section 5 enqueue them; those of cl_khr_command_buffer record them.
#pragma once

#include "icd/api/arguments.hpp"
#include "icd/core/commands/work.hpp"
#include "icd/core/programs/kernel.hpp"

namespace clique::icd::api {

// Each function checks its arguments and throws Error with the status that clEnqueue… returns. `queue` is the
// queue on which the command will run.

Work<protocol::CopyBuffer> copy_buffer(const Queue& queue, cl_mem src_buffer, cl_mem dst_buffer,
                                       size_t src_offset, size_t dst_offset, size_t size);
Work<protocol::CopyBufferRect> copy_buffer_rect(const Queue& queue, cl_mem src_buffer, cl_mem dst_buffer,
                                                const size_t* src_origin, const size_t* dst_origin,
                                                const size_t* region, size_t src_row_pitch,
                                                size_t src_slice_pitch, size_t dst_row_pitch,
                                                size_t dst_slice_pitch);
Work<protocol::FillBuffer> fill_buffer(const Queue& queue, cl_mem buffer, const void* pattern,
                                       size_t pattern_size, size_t offset, size_t size);
/// The pattern of a fill of a memory object or of shared virtual memory. Throws Error(CL_INVALID_VALUE).
std::span<const std::byte> pattern_bytes(const Queue& queue, const void* pattern, size_t size);
Work<protocol::CopyImage> copy_image(const Queue& queue, cl_mem src_image, cl_mem dst_image,
                                     const size_t* src_origin, const size_t* dst_origin,
                                     const size_t* region);
Work<protocol::CopyImageToBuffer> copy_image_to_buffer(const Queue& queue, cl_mem src_image,
                                                       cl_mem dst_buffer, const size_t* src_origin,
                                                       const size_t* region, size_t dst_offset);
Work<protocol::CopyBufferToImage> copy_buffer_to_image(const Queue& queue, cl_mem src_buffer,
                                                       cl_mem dst_image, size_t src_offset,
                                                       const size_t* dst_origin, const size_t* region);
Work<protocol::FillImage> fill_image(const Queue& queue, cl_mem image, const void* fill_color,
                                     const size_t* origin, const size_t* region);

/// Commands on shared virtual memory, without the ones that copy from or to other memory of the host.
Work<protocol::CopyBuffer> svm_copy(const Queue& queue, void* dst_ptr, const void* src_ptr, size_t size);
Work<protocol::FillBuffer> svm_fill(const Queue& queue, void* svm_ptr, const void* pattern,
                                    size_t pattern_size, size_t size);

/// clSetKernelArgSVMPointer. Throws Error(CL_INVALID_OPERATION) and what Kernel::set_arg_svm throws.
void set_svm_arg(Kernel& kernel, cl_uint index, const void* pointer);
/// clSetKernelExecInfo. Throws Error(CL_INVALID_OPERATION), Error(CL_INVALID_VALUE).
void set_exec_info(Kernel& kernel, cl_kernel_exec_info param_name, size_t param_value_size,
                   const void* param_value);

/// The kernel of a launch on `queue`. Throws Error(CL_INVALID_KERNEL), Error(CL_INVALID_CONTEXT).
Ref<Kernel> kernel_for(const Queue& queue, cl_kernel kernel);
/// The range of a launch, checked as for clEnqueueNDRangeKernel against the limits of the kernel on the
/// queue's device.
NdRange nd_range(const Queue& queue, const Kernel& kernel, cl_uint work_dim, const size_t* offset,
                 const size_t* global, const size_t* local);

}  // namespace clique::icd::api
