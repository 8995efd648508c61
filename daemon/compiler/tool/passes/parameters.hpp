// Gives kernels the parameters that the launch passes (program_binary.hpp).
#pragma once

#include <vector>

#include "daemon/compiler/contract/program_binary.hpp"

namespace llvm {
class GlobalVariable;
class Module;
}  // namespace llvm

namespace clique::daemon::compiler {

/// The launch's shared memory; made where the module has none yet.
llvm::GlobalVariable& dynamic_local_memory(llvm::Module& module);

/// Rewrites the kernels: pointers to local memory become offsets into the launch's, samplers become numbers,
/// and what the kernel asks of the launch follows its arguments. Calls of hidden values have to be in the
/// kernels themselves. Fills in where in the parameter block everything lies.
/// @param max_registers for each work-item; 0: not limited
void rewrite_parameters(llvm::Module& module, std::vector<Kernel>& kernels, unsigned max_registers);

}  // namespace clique::daemon::compiler
