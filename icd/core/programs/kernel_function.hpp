// The facts about a __kernel function that are known before there is a kernel object.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "icd/core/division/launch_gate.hpp"
#include "icd/core/objects/device.hpp"
#include "protocol/messages/programs.hpp"

namespace clique::icd {

/// What a kernel's parameter accepts, as far as clSetKernelArg checks it.
struct Parameter {
  enum Class : std::uint8_t {
    Value,
    Pointer,  ///< to __global or __constant memory
    Any,      ///< a value, or a pointer to __global memory if it is set to a buffer
    Local,
    Image,
    Sampler,
    DeviceQueue,
    Pipe,
    Unknown,  ///< the driver gives no description
  };
  Class kind = Unknown;
  /// Bytes of a value; 0 if unknown, as for structures.
  std::size_t size = 0;
  /// The type of an image; 0 if unknown.
  cl_mem_object_type image_type = 0;
  /// The access qualifier of an image; CL_KERNEL_ARG_ACCESS_NONE for all others.
  cl_kernel_arg_access_qualifier access = CL_KERNEL_ARG_ACCESS_NONE;
  /// Whether the kernel cannot write through it.
  bool read_only = false;
  /// Empty if the driver does not tell it.
  std::string name = {};
};

Parameter parameter_of(const protocol::ArgDescription& description);
/// Bytes of a value of one of OpenCL C's built-in types; 0 for any other type name.
std::size_t size_of_type(std::string_view name);

/// What a device allows for launches of one kernel function. A limit that the driver does not report is the
/// largest value of its type.
struct LaunchLimits {
  cl_uint dimensions = 3;
  std::array<std::size_t, 3> item_sizes{};
  std::size_t group_size = 0;
  /// reqd_work_group_size; {0, 0, 0} if the kernel has none.
  std::array<std::size_t, 3> required_group{};
  /// The largest global id that the device can represent.
  std::uint64_t largest_id = 0;
  /// Bytes: the origin of a sub-buffer has to be a multiple of it.
  std::size_t alignment = 1;
  bool uniform_groups = true;
  /// Whether an empty range is a command that does nothing, and no error.
  bool empty_ranges = false;
};

/// A __kernel function of a built program, as the nodes' drivers describe it.
struct KernelFunction {
  struct OnDevice {
    Ref<Device> device;
    std::vector<protocol::Property> work_group;  ///< clGetKernelWorkGroupInfo
    LaunchLimits limits;

    /// The bytes of an answer of clGetKernelWorkGroupInfo; nullptr if the driver has none.
    const protocol::Bytes* property(cl_kernel_work_group_info name) const;
  };

  std::string name;
  std::string_view traced_name;  ///< trace::kept() name
  std::string entry;             ///< a second name for it, if not empty
  std::string attributes;
  std::vector<Parameter> parameters;
  /// What clGetKernelArgInfo returns; empty if the program was built without, or the driver has none.
  std::vector<protocol::ArgDescription> descriptions;
  std::vector<OnDevice> devices;
  /// Members of combined devices that the application has not named.
  std::vector<OnDevice> members = {};
  /// Whether all devices have the same definition.
  bool consistent = true;
  /// BuildTraits::checked_without.
  std::optional<std::uint64_t> checked_without = {};
  /// What is known of its launches on combined devices.
  std::shared_ptr<LaunchGates> gates = std::make_shared<LaunchGates>();

  const OnDevice* on(const Device& device) const;
};

/// The properties of a build that matter for the descriptions of all its kernels.
struct BuildTraits {
  bool from_source = false;
  /// Whether it was built with -cl-kernel-arg-info.
  bool tells_args = false;
  /// Whether the language version or an option requires that work-groups divide the range.
  bool uniform_groups = false;
  /// Whether it was built with -clique-check-footprints[=N], so that parts of divided launches fail if they
  /// access what is not expected of them; N: how many bytes are taken away from each expected range, to see
  /// that.
  std::optional<std::uint64_t> checked_without = {};
};

/// The function as one worker's driver describes it, without its devices.
KernelFunction function_of(const protocol::KernelDescription& description, const BuildTraits& traits);
/// The part of a function that depends on the device.
KernelFunction::OnDevice on_device(Ref<Device> device, std::vector<protocol::Property> work_group,
                                   const BuildTraits& traits);
/// Whether both have the same definition. If not, clCreateKernel returns CL_INVALID_KERNEL_DEFINITION.
bool same_definition(const KernelFunction& a, const KernelFunction& b);

}  // namespace clique::icd
