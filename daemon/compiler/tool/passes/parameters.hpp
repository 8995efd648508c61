// Giving kernels the parameters that a launch passes (contract/program_binary.hpp).
#pragma once

#include <vector>

#include "daemon/compiler/contract/program_binary.hpp"

namespace llvm {
class GlobalVariable;
class Module;
}  // namespace llvm

namespace clique::daemon::compiler {

/// The variable that stands for the launch's dynamic shared memory; created by the first call.
llvm::GlobalVariable& dynamic_local_memory(llvm::Module& module);

/// Rewrites the kernels. Pointers to local memory become offsets into the launch's dynamic shared memory,
/// samplers become numbers, and hidden values become parameters after the arguments. Calls of hidden values
/// must already be inlined into the kernels. Sets the offsets of all parameters in `kernels`.
/// @param max_registers per work-item; 0: no limit
void rewrite_parameters(llvm::Module& module, std::vector<Kernel>& kernels, unsigned max_registers);

}  // namespace clique::daemon::compiler
