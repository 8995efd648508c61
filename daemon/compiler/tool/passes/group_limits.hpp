// Ranges of local ids and work-group sizes.
#pragma once

#include <vector>

#include "daemon/compiler/contract/program_binary.hpp"

namespace llvm {
class Module;
}

namespace clique::daemon::compiler {

/// Tells the optimiser the ranges of local ids and work-group sizes. In kernels with reqd_work_group_size
/// they are exact, so that loops over a work-group unroll and lose their guards. Run when all functions that
/// read these values are inlined into the kernels.
void bound_group_registers(llvm::Module& module, const std::vector<Kernel>& kernels);

}  // namespace clique::daemon::compiler
