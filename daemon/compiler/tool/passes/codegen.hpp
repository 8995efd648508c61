#pragma once

#include <string>

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace clique::daemon::compiler {

/// The module as PTX. Throws std::runtime_error where the back end cannot.
std::string generate_ptx(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace clique::daemon::compiler
