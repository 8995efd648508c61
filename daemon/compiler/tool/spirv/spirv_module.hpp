// Converting the translator's output. It is for the SPIR target; afterwards it is what the front end would
// give for the same program in OpenCL C.
#pragma once

#include <memory>

#include "daemon/compiler/tool/common/options.hpp"

namespace llvm {
class DataLayout;
class Module;
}  // namespace llvm

namespace clique::daemon::compiler {

/// Copies a program for SPIR into one for NVPTX: with NVPTX's address spaces and calling conventions, the
/// device library's types for images, samplers and events, and the floating-point flags that `options` ask
/// for. Throws std::runtime_error if the program uses something that the device does not have.
std::unique_ptr<llvm::Module> retarget_spirv(const llvm::Module& module, const llvm::DataLayout& layout,
                                             const Options& options);

/// Renames the built-in functions that programs from SPIR-V call to their names in the device library. Call
/// it when the program is complete, also if only some of its linked objects come from SPIR-V.
void rename_spirv_builtins(llvm::Module& module);

}  // namespace clique::daemon::compiler
