// What the translator makes of SPIR-V is for SPIR's target; here it becomes what the front end gives for
// OpenCL C.
#pragma once

#include <memory>

#include "daemon/compiler/tool/common/options.hpp"

namespace llvm {
class DataLayout;
class Module;
}  // namespace llvm

namespace clique::daemon::compiler {

/// The same program for NVPTX: with its address spaces and calling conventions, the types of images, samplers
/// and events that the device library knows, and what `options` say of mathematics.
std::unique_ptr<llvm::Module> retarget_spirv(const llvm::Module& module, const llvm::DataLayout& layout,
                                             const Options& options);

/// Gives the builtin functions that such programs call, also as parts of others, the names that they have in
/// the device library. All parts of the program have to be there.
void rename_spirv_builtins(llvm::Module& module);

}  // namespace clique::daemon::compiler
