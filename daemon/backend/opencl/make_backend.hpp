#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace clique::daemon {

class Backend;
struct Surroundings;

/// Makes the backend that executes commands through an OpenCL driver of this node.
/// @param platform the driver's index in clGetPlatformIDs
/// @param devices indices of the platform's devices to use; empty: all of them
/// @param node names this node in the devices' UUIDs (SessionOptions::node)
/// Throws std::runtime_error with a message for the user if the driver or one of the devices is not there.
std::unique_ptr<Backend> make_opencl_backend(const Surroundings& surroundings, std::uint32_t platform,
                                             const std::vector<std::uint32_t>& devices,
                                             const std::string& node);

}  // namespace clique::daemon
