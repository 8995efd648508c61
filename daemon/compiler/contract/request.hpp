// What the worker asks clique-compiler to do, and the answer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/aggregate.hpp"
#include "protocol/footprint.hpp"
#include "protocol/payload.hpp"

namespace clique::daemon::compiler {

/// One call of clBuildProgram, clCompileProgram or clLinkProgram, for one architecture; or the question what
/// the kernels of a source read and write.
struct Request {
  enum class Kind : std::uint8_t { Build = 0, Compile = 1, Link = 2, Analyse = 3 };
  Kind kind = Kind::Build;
  std::string architecture;  ///< of the device, such as "sm_90"
  std::string options;
  std::string source;                     ///< Build, Compile
  std::vector<std::string> header_names;  ///< Compile: the names that #include uses
  std::vector<std::string> headers;       ///< their sources, in the same order
  /// Build, Compile: the folder of the client in which relative paths begin, and the files of the client that
  /// the source may include, by absolute paths. There are no others.
  std::string folder = "/";
  std::vector<std::string> file_paths;
  std::vector<std::string> files;       ///< their texts, in the same order
  protocol::Bytes il;                   ///< Build, Compile: SPIR-V instead of source
  std::vector<protocol::Bytes> inputs;  ///< Link, and Build of a program made from a compiled binary
  std::vector<std::string> extensions;  ///< of the device, as CL_DEVICE_EXTENSIONS lists them
  bool in_parts = false;                ///< Build: launches may run in parts (Kernel::in_parts)
  CLIQUE_FIELDS(Request, kind, architecture, options, source, header_names, headers, folder, file_paths,
                files, il, inputs, extensions, in_parts)
};

struct Result {
  /// CL_SUCCESS, or the error that the call returns: CL_BUILD_PROGRAM_FAILURE, CL_COMPILE_PROGRAM_FAILURE,
  /// CL_LINK_PROGRAM_FAILURE, CL_INVALID_BUILD_OPTIONS, CL_INVALID_COMPILER_OPTIONS,
  /// CL_INVALID_LINKER_OPTIONS, CL_COMPILER_NOT_AVAILABLE or CL_OUT_OF_HOST_MEMORY.
  std::int32_t status = 0;
  std::string log;         ///< the build log, also of a success
  protocol::Bytes binary;  ///< a serialize()d ProgramBinary, or an encode()d Analysis; empty if it failed
  /// Files of the node that the result depends on: those of the CUDA toolkit, for a program in CUDA C++.
  std::vector<std::string> files;
  CLIQUE_FIELDS(Result, status, log, binary, files)
};

/// The answer to Request::Kind::Analyse.
struct Analysis {
  std::vector<protocol::Footprint> footprints;  ///< of the kernels
  /// A source that another compiler accepts, with the same options, only if it sees the program as the
  /// analysis has seen it: the program may depend on predefined macros.
  std::string check;
  CLIQUE_FIELDS(Analysis, footprints, check)
};

/// The status for an error in the program: CL_BUILD_PROGRAM_FAILURE, CL_COMPILE_PROGRAM_FAILURE or
/// CL_LINK_PROGRAM_FAILURE.
std::int32_t failure_status(Request::Kind kind);
/// The status for an error in the options: CL_INVALID_BUILD_OPTIONS, CL_INVALID_COMPILER_OPTIONS or
/// CL_INVALID_LINKER_OPTIONS.
std::int32_t options_status(Request::Kind kind);

}  // namespace clique::daemon::compiler
