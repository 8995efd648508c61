// Host memory that devices use in place: of buffers on processors, and shared virtual memory, at the address
// that the client chose.
#pragma once

#include <cstdint>
#include <memory>

#include "daemon/backend/opencl/native.hpp"

namespace clique::daemon::opencl {

/// Whether the device works in the host memory of a buffer itself, and kernels may use pointers into it. Asks
/// the driver, and tries it with a small buffer.
bool uses_host_memory(cl_device_id device);

/// How such a device can access memory that it shares with processes of its host
/// (cl_device_unified_shared_memory_capabilities_intel).
cl_bitfield shared_memory_capabilities(cl_device_id device);

/// Whether the device's threads run on the host's processors, so that a copy by the host takes no longer than
/// one by the device, which would have to wait for a thread that has no kernel to run.
bool is_processor(cl_device_id device);

/// Allocates memory for a buffer that the host and the device both use in place. Throws ClError.
/// @returns the first byte, which keeps the memory, aligned to a page
std::shared_ptr<std::byte> allocate(std::uint64_t size);

/// Allocates memory at an address that the client chose. Throws RuleBroken for an impossible address, and
/// ClError if the memory is not available. If the address is in use, waits up to a second: drivers release a
/// command's buffers a moment after they have reported its end.
/// @returns the first byte, which keeps the memory
std::shared_ptr<std::byte> place(std::uint64_t address, std::uint64_t size);

/// Creates a buffer over `size` bytes from `memory` on, which lives until the driver has released the buffer.
Handle<cl_mem> buffer_over(cl_context context, cl_mem_flags flags, std::shared_ptr<std::byte> memory,
                           std::uint64_t size);

}  // namespace clique::daemon::opencl
