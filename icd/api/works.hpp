// Commands that queues and command buffers take with the same arguments, and the clauses on these. The entry
// points of section 5 and those of cl_khr_command_buffer differ in nothing else than what becomes of them.
#pragma once

#include "icd/api/arguments.hpp"
#include "icd/core/commands/work.hpp"
#include "icd/core/programs/kernel.hpp"

namespace clique::icd::api {

// Each throws Error as clEnqueue… returns it. `queue` is where the command is to run.

Work<protocol::CopyBuffer> copy_buffer(const Queue& queue, cl_mem src_buffer, cl_mem dst_buffer,
                                       size_t src_offset, size_t dst_offset, size_t size);
Work<protocol::CopyBufferRect> copy_buffer_rect(const Queue& queue, cl_mem src_buffer, cl_mem dst_buffer,
                                                const size_t* src_origin, const size_t* dst_origin,
                                                const size_t* region, size_t src_row_pitch,
                                                size_t src_slice_pitch, size_t dst_row_pitch,
                                                size_t dst_slice_pitch);
Work<protocol::FillBuffer> fill_buffer(const Queue& queue, cl_mem buffer, const void* pattern,
                                       size_t pattern_size, size_t offset, size_t size);
/// The pattern of a fill, of memory objects and shared virtual memory alike. Throws Error(CL_INVALID_VALUE).
std::span<const std::byte> pattern_bytes(const void* pattern, size_t size);
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

/// The kernel of a launch. Throws Error(CL_INVALID_KERNEL), Error(CL_INVALID_CONTEXT).
Ref<Kernel> kernel_for(const Queue& queue, cl_kernel kernel);
/// What clEnqueueNDRangeKernel says on the range, for the kernel on the queue's device.
NdRange nd_range(const Queue& queue, const Kernel& kernel, cl_uint work_dim, const size_t* offset,
                 const size_t* global, const size_t* local);

}  // namespace clique::icd::api
