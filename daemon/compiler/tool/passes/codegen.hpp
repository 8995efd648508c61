// Code generation.
#pragma once

#include <string>

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace clique::daemon::compiler {

/// Generates PTX for the module. Throws std::runtime_error if the module is invalid or LLVM cannot write PTX.
std::string generate_ptx(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace clique::daemon::compiler
