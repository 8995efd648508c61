// Parts of messages in which workers describe their devices, programs and kernels.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "protocol/aggregate.hpp"
#include "protocol/ids.hpp"
#include "protocol/payload.hpp"

namespace clique::protocol {

/// One property as the node's driver reports it.
struct Property {
  std::uint32_t name = 0;  ///< cl_device_info and the like
  Bytes value;             ///< what clGet*Info writes
  CLIQUE_FIELDS(Property, name, value)
};

/// What clGetSupportedImageFormats returns for one device.
struct ImageFormats {
  std::uint64_t flags =
      0;  ///< CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY, CL_MEM_READ_WRITE, CL_MEM_KERNEL_READ_AND_WRITE
  std::uint32_t image_type = 0;                       ///< cl_mem_object_type
  std::vector<std::array<std::uint32_t, 2>> formats;  ///< channel order, channel type
  CLIQUE_FIELDS(ImageFormats, flags, image_type, formats)
};

/// A device, with everything that clGetDeviceInfo returns for it.
struct DeviceDescription {
  std::vector<Property>
      properties;  ///< every cl_device_info that the driver knows, except handles (platform, parent)
  std::vector<ImageFormats> image_formats;
  bool sparse_buffers = false;  ///< whether it can have sparse buffers (CreateBuffer::sparse)
  CLIQUE_FIELDS(DeviceDescription, properties, image_formats, sparse_buffers)
};

/// A driver of a node.
struct Driver {
  std::uint32_t id = 0;  ///< unique among the node's drivers while its daemon runs
  std::vector<DeviceDescription> devices;
  std::string name = {};    ///< of its OpenCL platform; of an NVIDIA GPU that is used through CUDA: "CUDA"
  bool taken = false;       ///< a session uses its devices exclusively
  std::string vendor = {};  ///< of its OpenCL platform
  CLIQUE_FIELDS(Driver, id, devices, name, taken, vendor)
};

/// A kernel argument as clGetKernelArgInfo describes it.
struct ArgDescription {
  /// cl_kernel_arg_address_qualifier. 0: an argument of `size` bytes, which are a value, or a buffer's
  /// address if the argument is set to a buffer.
  std::uint32_t address = 0;
  std::uint32_t access = 0;     ///< cl_kernel_arg_access_qualifier
  std::string type;             ///< type name
  std::uint64_t qualifier = 0;  ///< cl_kernel_arg_type_qualifier
  std::string name;
  std::uint64_t size = 0;  ///< of a value; 0: the worker does not know it
  CLIQUE_FIELDS(ArgDescription, address, access, type, qualifier, name, size)
};

/// What clGetKernelWorkGroupInfo returns for one device.
struct KernelOnDevice {
  DeviceId device = 0;
  std::vector<Property> work_group;  ///< cl_kernel_work_group_info
  CLIQUE_FIELDS(KernelOnDevice, device, work_group)
};

struct KernelDescription {
  std::string name;
  std::string attributes;
  std::uint32_t arg_count = 0;
  std::vector<ArgDescription> args;  ///< empty: the driver has no argument information
  std::vector<KernelOnDevice> devices;
  std::string entry = {};  ///< another name that clCreateKernel accepts for it; empty: none
  CLIQUE_FIELDS(KernelDescription, name, attributes, arg_count, args, devices, entry)
};

/// The outcome of a build for one device.
struct BuildResult {
  DeviceId device = 0;
  std::int32_t build_status = 0;       ///< cl_build_status
  std::int32_t binary_status = 0;      ///< of a program made from binaries
  std::uint32_t binary_type = 0;       ///< cl_program_binary_type
  std::uint64_t global_variables = 0;  ///< CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE
  std::string log;
  CLIQUE_FIELDS(BuildResult, device, build_status, binary_status, binary_type, global_variables, log)
};

}  // namespace clique::protocol
