// The driver's answers to clGet*Info, as messages.
#pragma once

#include "daemon/backend/opencl/native.hpp"

namespace clique::daemon::opencl {

std::vector<protocol::Property> describe_platform(cl_platform_id platform);

/// Every property that the driver knows, and the image formats of a context with only this device. Says that
/// the device has no shared virtual memory unless uses_host_memory() is true.
/// @param in_place uses_host_memory(device)
protocol::DeviceDescription describe_device(cl_device_id device, bool in_place);

/// All kernels of an executable.
/// @param devices the devices that it was built for, with their ids
std::vector<protocol::KernelDescription> describe_kernels(
    cl_program program, const std::vector<std::pair<protocol::DeviceId, cl_device_id>>& devices);

/// Bytes of a scalar or vector type of OpenCL C that has the same size on all devices; 0 for other types.
std::uint64_t builtin_type_size(const std::string& name);

}  // namespace clique::daemon::opencl
