// From OpenCL C to LLVM's representation, not yet optimised and without the builtin functions.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/compiler/tool/common/options.hpp"
#include "daemon/compiler/tool/common/target.hpp"

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace clique::daemon::compiler {

/// What is compiled, and the files that exist only in memory.
struct Source {
  std::string name = "program.cl";  ///< in messages
  std::string text;
  std::vector<std::pair<std::string, std::string>> headers;  ///< by the names that #include uses
  std::vector<std::string> extensions;
  /// Part of the device library: builtin functions are not declared, but defined.
  bool library = false;
};

/// Messages go to `log`. @returns null where there were errors.
/// @param files gets the files that #include read from disk, if not null
std::unique_ptr<llvm::Module> compile_source(llvm::LLVMContext& context, const Source& source,
                                             const Options& options, const Target& target, std::string& log,
                                             std::vector<std::string>* files = nullptr);

}  // namespace clique::daemon::compiler
