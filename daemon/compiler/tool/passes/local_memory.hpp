// __local variables of kernels.
#pragma once

#include <vector>

#include "daemon/compiler/contract/program_binary.hpp"

namespace llvm {
class Module;
}

namespace clique::daemon::compiler {

/// PTX takes up to 48 KiB of `.shared` variables for a kernel: of kernels with more, the largest ones move to
/// the begin of the launch's shared memory. Notes each kernel's local_size and static_local_size. To be run
/// after optimising. Throws std::runtime_error where variables cannot be moved.
void place_local_variables(llvm::Module& module, std::vector<Kernel>& kernels);

}  // namespace clique::daemon::compiler
