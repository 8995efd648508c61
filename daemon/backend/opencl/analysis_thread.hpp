#pragma once

#include <functional>
#include <memory>
#include <string>

#include "daemon/backend/common/build_thread.hpp"
#include "daemon/backend/common/program_files.hpp"
#include "daemon/backend/opencl/objects.hpp"
#include "daemon/compiler/client/compiler_process.hpp"
#include "protocol/messages/programs.hpp"

namespace clique::daemon::opencl {

/// Has clique-compiler find out what the kernels of programs read and write, while the node's driver compiles
/// the same source for a device. One analysis at a time, on a thread of its own, so that builds do not wait.
class AnalysisThread {
 public:
  using Report = std::function<void(const protocol::ProgramAnalysed&)>;

  /// @param report called on the thread
  explicit AnalysisThread(Report report) : report_(std::move(report)) {}

  /// Analyses a program from source. The options are those of the program's build.
  void post(const std::shared_ptr<Program>& program, protocol::AnalyseProgram message, cl_device_id device,
            std::shared_ptr<const FileSet> files);

 private:
  protocol::ProgramAnalysed analyse(const Program& program, const protocol::AnalyseProgram& message,
                                    cl_device_id device, const FileSet& files);

  const Report report_;
  compiler::CompilerProcess compiler_{compiler::find_compiler()};
  BuildThread thread_;  // last: it uses what is above
};

}  // namespace clique::daemon::opencl
