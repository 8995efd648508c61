// LLVM's passes, and ours between them.
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

/// Removes what no kernel needs. Everything that is not a kernel becomes internal.
void keep_what_kernels_need(llvm::Module& module);

/// From a complete program to one that is ready for the back end. Fills in what program_binary.hpp says of
/// the kernels' parameters and memory. Optional passes are left out from `deadline` on.
/// @returns false where that happened
bool optimise(llvm::Module& module, llvm::TargetMachine& machine, const Options& options,
              std::vector<Kernel>& kernels, std::chrono::steady_clock::time_point deadline);

}  // namespace clique::daemon::compiler
