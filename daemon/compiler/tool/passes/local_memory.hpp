// Placing the __local variables of kernels.
#pragma once

#include <vector>

#include "daemon/compiler/contract/program_binary.hpp"

namespace llvm {
class Module;
}

namespace clique::daemon::compiler {

/// PTX allows 48 KiB of `.shared` variables per kernel. If a kernel has more, the largest variables move to
/// the beginning of the launch's dynamic shared memory. Sets local_size and static_local_size of each kernel.
/// Run after LLVM's optimisations. Throws std::runtime_error if variables of other functions take more than
/// 48 KiB.
void place_local_variables(llvm::Module& module, std::vector<Kernel>& kernels);

}  // namespace clique::daemon::compiler
