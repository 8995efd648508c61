// Linking compiled objects and libraries.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "daemon/compiler/contract/program_binary.hpp"

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace clique::daemon::compiler {

/// Links compiled objects and libraries into one module.
/// @returns null if they do not fit together; `log` says why
std::unique_ptr<llvm::Module> link_objects(llvm::LLVMContext& context,
                                           const std::vector<ProgramBinary>& objects, std::string& log);

}  // namespace clique::daemon::compiler
