// Host memory that devices use in place, at its own address: shared virtual memory.
#pragma once

#include <cstdint>
#include <memory>

#include "daemon/backend/opencl/native.hpp"
#include "protocol/transport/placed_memory.hpp"

namespace clique::daemon::opencl {

/// Whether all that commands and kernels do to a buffer over host memory, the device does in that memory, and
/// kernels may use pointers into it. Asks the driver, and tries it.
bool uses_host_memory(cl_device_id device);

/// Memory at an address that the client chose. Throws RuleBroken for what can be no such address, and ClError
/// where it is not to be had. Waits, but not for long, where something is there: drivers let go of a
/// command's buffers a moment after they have said that it ended.
std::shared_ptr<const protocol::PlacedMemory> place(std::uint64_t address, std::uint64_t size);

/// A buffer that is `size` bytes of the memory, which stays until the driver is done with the buffer.
Handle<cl_mem> buffer_over(cl_context context, cl_mem_flags flags,
                           std::shared_ptr<const protocol::PlacedMemory> memory, std::uint64_t offset,
                           std::uint64_t size);

}  // namespace clique::daemon::opencl
