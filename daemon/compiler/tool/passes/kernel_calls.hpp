// Calls of kernels by kernels.
#pragma once

namespace llvm {
class Module;
}

namespace clique::daemon::compiler {

/// Redirects calls of a kernel to a function with the same body. A kernel itself cannot be called on the
/// device, because its parameters are those of a launch.
void separate_called_kernels(llvm::Module& module);

}  // namespace clique::daemon::compiler
