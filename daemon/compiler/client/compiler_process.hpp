// The worker's side of clique-compiler: a process of its own, because LLVM must not share one with the node's
// other drivers, and because what it is given may crash it or keep it busy for ever.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/compiler/client/cache.hpp"
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

/// The clique-compiler of this build or installation: what $CLIQUE_COMPILER says, else the one beside this
/// program. Empty where there is none.
std::string find_compiler();

/// A clique-compiler that is started when first needed (or by warm()), kept, and started again when it died.
/// One request at a time: for one thread.
class CompilerProcess {
 public:
  /// @param program path of clique-compiler
  explicit CompilerProcess(std::string program, Cache cache = Cache::from_environment());
  ~CompilerProcess();

  /// Does ahead what the first request would wait for: reads what the compiler consists of, and starts it, if
  /// it does not run. Does not wait until it is up.
  void warm();

  /// Answers from the cache, or has the process compile. A process that dies or takes longer than `limit` is
  /// killed; the result is then a failure whose log says so.
  Result run(const Request& request, std::chrono::seconds limit);

 private:
  class Process;
  Process& running();
  Result compile(const Request& request, std::chrono::seconds limit);
  /// Of what the compiler consists of.
  const CacheKey& identity();
  CacheKey key_of(const Request& request);

  std::string program_;
  Cache cache_;
  std::unique_ptr<Process> process_;
  std::optional<CacheKey> compiler_;  ///< once identity() was needed
};

}  // namespace clique::daemon::compiler
