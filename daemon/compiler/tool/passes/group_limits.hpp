#pragma once

#include <vector>

#include "daemon/compiler/contract/program_binary.hpp"

namespace llvm {
class Module;
}

namespace clique::daemon::compiler {

/// Tells the optimiser between which numbers the local ids and sizes of work-groups lie: exactly, in kernels
/// with reqd_work_group_size, so that loops over them unroll and lose their guards. To be called when
/// everything that asks for them is inlined into the kernels.
void bound_group_registers(llvm::Module& module, const std::vector<Kernel>& kernels);

}  // namespace clique::daemon::compiler
