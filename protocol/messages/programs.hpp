// Programs and kernels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/descriptions.hpp"
#include "protocol/digest.hpp"
#include "protocol/footprint.hpp"
#include "protocol/messages/message.hpp"

namespace clique::protocol {

enum class ProgramKind : std::uint8_t { Source = 0, Binary = 1, Il = 2, BuiltInKernels = 3 };

/// Answered by ProgramBuilt unless `kind` is Source. For binaries, the answer has each one's status by
/// device.
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

/// A file of the client that a program includes.
struct ProgramFile {
  std::string path;  ///< absolute, without `.` and `..`, at most kMaxPath bytes
  Digest digest{};   ///< of the text
  Bytes text;        ///< empty if the worker has a text with this digest
  CLIQUE_FIELDS(ProgramFile, path, digest, text)
};

/// The files that one build may include; a build that names them with `files` uses them up. The worker keeps
/// their texts until the session ends or `forget` is set, and later messages give only the digests. A text
/// has to have been sent, and not forgotten. The client alone decides what it sends: a worker cannot ask for
/// files. No answer.
struct ProgramFiles {
  ObjectId id = 0;
  bool forget = false;  ///< the worker drops the texts that it kept before this message
  std::string folder;   ///< in which relative paths begin: absolute, the client's working directory
  std::vector<ProgramFile> files;
  CLIQUE_MESSAGE(ProgramFiles, id, forget, folder, files)
};

/// Answered by ProgramBuilt.
struct BuildProgram {
  RequestId request = 0;
  ObjectId program = 0;
  std::vector<DeviceId> devices;
  std::string options;
  ObjectId files = 0;     ///< of ProgramFiles; 0: none
  bool in_parts = false;  ///< whether launches may run in parts (RunKernel::part)
  CLIQUE_MESSAGE(BuildProgram, request, program, devices, options, files, in_parts)
};

/// Answered by ProgramBuilt.
struct CompileProgram {
  RequestId request = 0;
  ObjectId program = 0;
  std::vector<DeviceId> devices;
  std::string options;
  std::vector<ObjectId> headers;
  std::vector<std::string> header_names;
  ObjectId files = 0;  ///< of ProgramFiles; 0: none
  CLIQUE_MESSAGE(CompileProgram, request, program, devices, options, headers, header_names, files)
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

struct ProgramBuilt {
  RequestId request = 0;
  std::int32_t status = 0;  ///< returned by the driver's call
  std::vector<BuildResult> devices;
  std::vector<KernelDescription> kernels;  ///< of an executable
  CLIQUE_MESSAGE(ProgramBuilt, request, status, devices, kernels)
};

/// Asks what the kernels of a program from source read and write, if it is built with these options, to run
/// in parts. Answered by ProgramAnalysed.
struct AnalyseProgram {
  RequestId request = 0;
  ObjectId program = 0;
  DeviceId device = 0;
  std::string options;
  ObjectId files = 0;  ///< of ProgramFiles; 0: none
  CLIQUE_MESSAGE(AnalyseProgram, request, program, device, options, files)
};

struct ProgramAnalysed {
  RequestId request = 0;
  std::string failure;  ///< why nothing is known of the kernels, for people; empty: they are described
  std::vector<Footprint> footprints;
  CLIQUE_MESSAGE(ProgramAnalysed, request, failure, footprints)
};

/// Answered by ProgramBinary.
struct GetProgramBinary {
  RequestId request = 0;
  ObjectId program = 0;
  DeviceId device = 0;
  CLIQUE_MESSAGE(GetProgramBinary, request, program, device)
};

/// `binary` is empty if the program has none for the device.
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

/// clGetKernelWorkGroupInfo, clGetKernelSubGroupInfo or clGetKernelSuggestedLocalWorkSizeKHR when the answer
/// depends on what only the node knows (arguments, local size). Answered by WorkGroupAnswer.
struct QueryWorkGroup {
  /// The `name` that stands for clGetKernelSuggestedLocalWorkSizeKHR. `input` holds the offset and then the
  /// size of each dimension, and the answer a local size for each; 8 bytes a number.
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
