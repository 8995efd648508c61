// What is known of a __kernel function before there is a kernel object.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "icd/core/objects/device.hpp"
#include "protocol/messages.hpp"

namespace clique::icd {

/// What a kernel's parameter takes, as clSetKernelArg has to know it.
struct Parameter {
  enum Class : std::uint8_t {
    Value,
    Pointer,  ///< to __global or __constant memory
    Any,      ///< a value, or a pointer to __global memory where it is set to a buffer
    Local,
    Image,
    Sampler,
    DeviceQueue,
    Pipe,
    Unknown,  ///< the driver does not say
  };
  Class kind = Unknown;
  /// Bytes of a value; 0 where not known (structures).
  std::size_t size = 0;
  /// Of an image; 0 where not known.
  cl_mem_object_type image_type = 0;
  /// Of an image, else CL_KERNEL_ARG_ACCESS_NONE.
  cl_kernel_arg_access_qualifier access = CL_KERNEL_ARG_ACCESS_NONE;
  /// The kernel cannot write through it.
  bool read_only = false;
};

Parameter parameter_of(const protocol::ArgDescription& description);
/// Bytes of a value of one of OpenCL C's built-in types; 0 for any other type name.
std::size_t size_of_type(std::string_view name);

/// What a device allows the launches of one kernel function. Limits that the driver does not tell are as
/// large as can be.
struct LaunchLimits {
  cl_uint dimensions = 3;
  std::array<std::size_t, 3> item_sizes{};
  std::size_t group_size = 0;
  /// reqd_work_group_size; {0, 0, 0} where there is none.
  std::array<std::size_t, 3> required_group{};
  /// Largest number that the device has for a global id.
  std::uint64_t largest_id = 0;
  /// Sub-buffers have to begin at multiples of so many bytes.
  std::size_t alignment = 1;
  bool uniform_groups = true;
  /// An empty range is a command that does nothing, not an error.
  bool empty_ranges = false;
};

/// A __kernel function of a built program, as the nodes' drivers describe it.
struct KernelFunction {
  struct OnDevice {
    Ref<Device> device;
    std::vector<protocol::Property> work_group;  ///< clGetKernelWorkGroupInfo
    LaunchLimits limits;

    /// The bytes of a clGetKernelWorkGroupInfo answer; nullptr where the driver has none.
    const protocol::Bytes* property(cl_kernel_work_group_info name) const;
  };

  std::string name;
  std::string entry;  ///< another name of it; empty: none
  std::string attributes;
  std::vector<Parameter> parameters;
  /// As clGetKernelArgInfo gives them out; empty where it must not or cannot.
  std::vector<protocol::ArgDescription> descriptions;
  std::vector<OnDevice> devices;
  /// All devices have the same definition.
  bool consistent = true;

  const OnDevice* on(const Device& device) const;
};

/// What is the same for all kernels of a build and matters for their descriptions.
struct BuildTraits {
  bool from_source = false;
  /// Built with -cl-kernel-arg-info.
  bool tells_args = false;
  /// The language version or an option demands that work-groups divide the range.
  bool uniform_groups = false;
};

/// The function as one worker's driver describes it, its devices left out.
KernelFunction function_of(const protocol::KernelDescription& description, const BuildTraits& traits);
/// The function on one device.
KernelFunction::OnDevice on_device(Ref<Device> device, std::vector<protocol::Property> work_group,
                                   const BuildTraits& traits);
/// Whether both are the same function: clCreateKernel's CL_INVALID_KERNEL_DEFINITION.
bool same_definition(const KernelFunction& a, const KernelFunction& b);

}  // namespace clique::icd
