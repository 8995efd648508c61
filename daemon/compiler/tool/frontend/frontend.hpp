// Compiling OpenCL C to LLVM's representation, not yet optimised and without the built-in functions.
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

struct MacroChecks;

/// The source to compile, and all that it may include.
struct Source {
  std::string name = "program.cl";  ///< name in messages
  std::string text;
  std::vector<std::pair<std::string, std::string>> headers;     ///< names that #include uses, and sources
  std::string folder = "/";                                     ///< in which relative paths begin: absolute
  std::vector<std::pair<std::string, std::string>> files = {};  ///< absolute paths, and texts
  std::vector<std::string> extensions;                          ///< of the device
  /// Gets how the program uses macros that it does not define; null: nobody asks.
  MacroChecks* macros = nullptr;
  /// Whether this is a source of the device library, which defines the built-in functions. They are not
  /// declared then.
  bool library = false;
  /// Whether #include also reads the disk: for those who run the compiler themselves, on their own files.
  bool reads_disk = false;
};

/// Compiles a source. Appends messages to `log`.
/// @returns null if there were errors
std::unique_ptr<llvm::Module> compile_source(llvm::LLVMContext& context, const Source& source,
                                             const Options& options, const Target& target, std::string& log);

}  // namespace clique::daemon::compiler
