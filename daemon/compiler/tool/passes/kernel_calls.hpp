// Kernels that other kernels call.
#pragma once

namespace llvm {
class Module;
}

namespace clique::daemon::compiler {

/// Has kernels call a function with the called kernel's body: a kernel has an interface of its own and cannot
/// be called on the device.
void separate_called_kernels(llvm::Module& module);

}  // namespace clique::daemon::compiler
