// Recognising kernels.
#pragma once

#include <llvm/IR/Function.h>

namespace clique::daemon::compiler {

/// Whether the function is a kernel of OpenCL C or SPIR-V. Valid until rewrite_parameters() gives kernels the
/// calling convention of PTX.
inline bool is_kernel(const llvm::Function& function) {
  return function.getCallingConv() == llvm::CallingConv::SPIR_KERNEL;
}

}  // namespace clique::daemon::compiler
