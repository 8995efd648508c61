// The list of passes over a program, LLVM's and ours. To add a pass, write a function over llvm::Module in a
// file of its own in this folder, and call it from optimise() at the place where it belongs.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "daemon/compiler/contract/program_binary.hpp"
#include "daemon/compiler/tool/common/options.hpp"

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace clique::daemon::compiler {

/// Removes everything that no kernel needs, and gives everything but the kernels internal linkage.
void keep_what_kernels_need(llvm::Module& module);

/// Turns a complete program into one that is ready for code generation. Fills in the parameter block and the
/// local memory of `kernels` (contract/program_binary.hpp).
/// @param limit processor time after which no further optional pass is started
/// @returns false if passes were left out
bool optimise(llvm::Module& module, llvm::TargetMachine& machine, const Options& options,
              std::vector<Kernel>& kernels, std::chrono::nanoseconds limit);

}  // namespace clique::daemon::compiler
