// What the worker asks clique-compiler for, and its answer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/messages.hpp"

namespace clique::daemon::compiler {

/// One call of clBuildProgram, clCompileProgram or clLinkProgram for one architecture.
struct Request {
  enum class Kind : std::uint8_t { Build = 0, Compile = 1, Link = 2 };
  Kind kind = Kind::Build;
  std::string architecture;  ///< "sm_90"
  std::string options;
  std::string source;                     ///< Build, Compile
  std::vector<std::string> header_names;  ///< Compile: what #include names
  std::vector<std::string> headers;       ///< their sources
  protocol::Bytes il;                     ///< Build, Compile: SPIR-V instead of source
  std::vector<protocol::Bytes> inputs;    ///< Link, and Build of a program made from a compiled binary
  std::vector<std::string> extensions;    ///< of the device, as CL_DEVICE_EXTENSIONS lists them
  CLIQUE_FIELDS(Request, kind, architecture, options, source, header_names, headers, il, inputs, extensions)
};

struct Result {
  /// CL_SUCCESS, or what the call returns: CL_BUILD_PROGRAM_FAILURE, CL_COMPILE_PROGRAM_FAILURE,
  /// CL_LINK_PROGRAM_FAILURE, CL_INVALID_BUILD_OPTIONS, CL_INVALID_COMPILER_OPTIONS,
  /// CL_INVALID_LINKER_OPTIONS, CL_OUT_OF_HOST_MEMORY.
  std::int32_t status = 0;
  std::string log;
  protocol::Bytes binary;          ///< serialize()d ProgramBinary; empty where the status is a failure
  std::vector<std::string> files;  ///< on disk, that #include read
  CLIQUE_FIELDS(Result, status, log, binary, files)
};

/// What a call returns whose program is at fault.
std::int32_t failure_status(Request::Kind kind);
/// What a call returns whose options are: CL_INVALID_BUILD_OPTIONS, CL_INVALID_COMPILER_OPTIONS or
/// CL_INVALID_LINKER_OPTIONS.
std::int32_t options_status(Request::Kind kind);

}  // namespace clique::daemon::compiler
