// What clGet*Info answers, as messages.
#pragma once

#include "daemon/backend/opencl/native.hpp"

namespace clique::daemon::opencl {

std::vector<protocol::Property> describe_platform(cl_platform_id platform);

/// Every property that the driver answers, and the image formats of a context of the device alone. Shared
/// virtual memory is left to devices that uses_host_memory() is true of.
protocol::DeviceDescription describe_device(cl_device_id device);

/// All kernels of an executable. @param devices those that it was built for, with their ids.
std::vector<protocol::KernelDescription> describe_kernels(
    cl_program program, const std::vector<std::pair<protocol::DeviceId, cl_device_id>>& devices);

/// Bytes of a type of OpenCL C that has the same size everywhere: scalars and vectors; else 0.
std::uint64_t builtin_type_size(const std::string& name);

}  // namespace clique::daemon::opencl
