// Programs and kernels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/messages/devices.hpp"
#include "protocol/messages/message.hpp"

namespace clique::protocol {

enum class ProgramKind : std::uint8_t { Source = 0, Binary = 1, Il = 2, BuiltInKernels = 3 };

/// Answered by ProgramBuilt where `kind` is not Source (the statuses are those of the binaries, one per
/// device), else not answered.
struct CreateProgram {
  RequestId request = 0;
  ObjectId id = 0;
  ObjectId context = 0;
  ProgramKind kind = ProgramKind::Source;
  std::vector<DeviceId> devices;  ///< of the binaries or built-in kernels
  std::vector<Bytes>
      code;  ///< one source, one IL module, the built-in kernels' names, or a binary per device
  CLIQUE_MESSAGE(CreateProgram, request, id, context, kind, devices, code)
};

/// Answered by ProgramBuilt.
struct BuildProgram {
  RequestId request = 0;
  ObjectId program = 0;
  std::vector<DeviceId> devices;
  std::string options;
  CLIQUE_MESSAGE(BuildProgram, request, program, devices, options)
};

/// Answered by ProgramBuilt.
struct CompileProgram {
  RequestId request = 0;
  ObjectId program = 0;
  std::vector<DeviceId> devices;
  std::string options;
  std::vector<ObjectId> headers;
  std::vector<std::string> header_names;
  CLIQUE_MESSAGE(CompileProgram, request, program, devices, options, headers, header_names)
};

/// Creates program `id` from compiled ones. Answered by ProgramBuilt.
struct LinkProgram {
  RequestId request = 0;
  ObjectId id = 0;
  ObjectId context = 0;
  std::vector<DeviceId> devices;
  std::string options;
  std::vector<ObjectId> inputs;
  CLIQUE_MESSAGE(LinkProgram, request, id, context, devices, options, inputs)
};

/// A kernel's argument as clGetKernelArgInfo describes it.
struct ArgDescription {
  /// cl_kernel_arg_address_qualifier; 0: `size` bytes that are a value, or the address of a buffer where it
  /// is set to one.
  std::uint32_t address = 0;
  std::uint32_t access = 0;     ///< cl_kernel_arg_access_qualifier
  std::string type;             ///< type name
  std::uint64_t qualifier = 0;  ///< cl_kernel_arg_type_qualifier
  std::string name;
  std::uint64_t size = 0;  ///< of a value, where the worker knows it, else 0
  CLIQUE_FIELDS(ArgDescription, address, access, type, qualifier, name, size)
};

/// clGetKernelWorkGroupInfo of one device.
struct KernelOnDevice {
  DeviceId device = 0;
  std::vector<Property> work_group;  ///< cl_kernel_work_group_info
  CLIQUE_FIELDS(KernelOnDevice, device, work_group)
};

struct KernelDescription {
  std::string name;
  std::string attributes;
  std::uint32_t arg_count = 0;
  std::vector<ArgDescription> args;  ///< empty where the driver has no argument information
  std::vector<KernelOnDevice> devices;
  std::string entry = {};  ///< another name by which clCreateKernel finds it; empty: none
  CLIQUE_FIELDS(KernelDescription, name, attributes, arg_count, args, devices, entry)
};

/// One device's view of a build.
struct BuildResult {
  DeviceId device = 0;
  std::int32_t build_status = 0;       ///< cl_build_status
  std::int32_t binary_status = 0;      ///< of a program made from binaries
  std::uint32_t binary_type = 0;       ///< cl_program_binary_type
  std::uint64_t global_variables = 0;  ///< CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE
  std::string log;
  CLIQUE_FIELDS(BuildResult, device, build_status, binary_status, binary_type, global_variables, log)
};

struct ProgramBuilt {
  RequestId request = 0;
  std::int32_t status = 0;  ///< what the driver's call returned
  std::vector<BuildResult> devices;
  std::vector<KernelDescription> kernels;  ///< of an executable
  CLIQUE_MESSAGE(ProgramBuilt, request, status, devices, kernels)
};

/// Answered by ProgramBinary.
struct GetProgramBinary {
  RequestId request = 0;
  ObjectId program = 0;
  DeviceId device = 0;
  CLIQUE_MESSAGE(GetProgramBinary, request, program, device)
};

/// `binary` is empty where there is none.
struct ProgramBinary {
  RequestId request = 0;
  std::int32_t status = 0;
  Bytes binary;
  CLIQUE_MESSAGE(ProgramBinary, request, status, binary)
};

struct CreateKernel {
  ObjectId id = 0;
  ObjectId program = 0;
  std::string name;
  CLIQUE_MESSAGE(CreateKernel, id, program, name)
};

/// clGetKernelWorkGroupInfo, clGetKernelSubGroupInfo or clGetKernelSuggestedLocalWorkSizeKHR where the answer
/// depends on what only the node knows (arguments set, local size). Answered by WorkGroupAnswer.
struct QueryWorkGroup {
  /// `name` of clGetKernelSuggestedLocalWorkSizeKHR. `input` is the offset and then the size of each
  /// dimension, the answer a local size for each; 8 bytes a number.
  static constexpr std::uint32_t kSuggestedLocalSize = 0;

  RequestId request = 0;
  ObjectId kernel = 0;
  DeviceId device = 0;
  std::uint32_t name = 0;  ///< cl_kernel_sub_group_info
  Bytes input;
  std::uint64_t answer_size = 0;
  CLIQUE_MESSAGE(QueryWorkGroup, request, kernel, device, name, input, answer_size)
};

struct WorkGroupAnswer {
  RequestId request = 0;
  std::int32_t status = 0;
  Bytes value;
  CLIQUE_MESSAGE(WorkGroupAnswer, request, status, value)
};

}  // namespace clique::protocol
