#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "daemon/backend/common/build_thread.hpp"
#include "daemon/backend/common/program_files.hpp"
#include "daemon/backend/cuda/execution/module.hpp"
#include "daemon/backend/cuda/gpu/device.hpp"
#include "daemon/backend/cuda/handlers/objects.hpp"
#include "daemon/compiler/client/cache.hpp"
#include "daemon/compiler/client/compiler_process.hpp"

namespace clique::daemon::cuda {

/// A program. The build thread owns its members while it has jobs for it.
struct Program : Buildable {
  protocol::ProgramKind kind = protocol::ProgramKind::Source;
  std::string source;
  protocol::Bytes il;
  cl_int status = CL_SUCCESS;  ///< of its creation

  // Of the last build, compilation or link:
  cl_int build_status = CL_BUILD_NONE;
  cl_int binary_status = CL_SUCCESS;
  std::string log;
  std::shared_ptr<const compiler::ProgramBinary> binary;  ///< null if there is none
  protocol::Bytes bytes;                                  ///< `binary`, serialised
  std::shared_ptr<const Module> module;                   ///< of an executable; null for other programs
};

/// Programs: compiles, links and loads them, on the build thread. Main thread, unless said otherwise.
class Programs {
 public:
  /// @param device outlives the object
  Programs(Reporter& reporter, const Device& device, const Table<Context>& contexts);
  Programs(const Programs&) = delete;
  Programs& operator=(const Programs&) = delete;

  void handle(protocol::CreateProgram&& message);
  void handle(protocol::ProgramFiles&& message) { files_.take(std::move(message)); }
  void handle(protocol::BuildProgram&& message);
  void handle(protocol::CompileProgram&& message);
  void handle(protocol::LinkProgram&& message);
  void handle(protocol::AnalyseProgram&& message);
  void handle(protocol::GetProgramBinary&& message);
  /// @returns whether it was a program.
  bool release(protocol::ObjectId id) { return programs_.erase(id); }

  /// The program on the GPU. Waits until the program's builds are done. Throws ClError if it has not been
  /// built.
  std::shared_ptr<const Module> module_of(protocol::ObjectId program);

  /// Starts the compiler process before the first build needs it, on the build thread.
  /// @param before called there first
  void warm(std::function<void()> before);

 private:
  // On the build thread.
  compiler::Request request(compiler::Request::Kind kind, const std::string& options) const;
  /// The same for a program that may include files.
  compiler::Request request(compiler::Request::Kind kind, const std::string& options,
                            const FileSet& files) const;
  /// Runs the compiler, and makes the program what it gives.
  /// @param failure the status if the result cannot be loaded
  /// @returns the build's status.
  cl_int compile(Program& program, const compiler::Request& request, cl_int failure);
  cl_int take_result(Program& program, compiler::Result result, cl_int failure);
  void load(Program& program);
  /// What the kernels of a program read and write. Throws if the compiler's answer is damaged.
  protocol::ProgramAnalysed analyse(const Program& program, const std::string& options, const FileSet& files);
  void report(protocol::RequestId request, const Program& program, cl_int status,
              const std::vector<protocol::DeviceId>& devices);

  Reporter& reporter_;
  const Device& device_;
  const Table<Context>& contexts_;
  const std::vector<std::string> extensions_;  // of OpenCL C
  Table<Program> programs_{"program"};
  ProgramFiles files_;
  compiler::CompilerProcess compiler_;  // the build thread's, as is the cache
  compiler::Cache cache_ = compiler::Cache::from_environment();
  BuildThread builds_;
};

}  // namespace clique::daemon::cuda
