// What clGetKernelInfo and clGetKernelArgInfo ask, from what the front end noted with each kernel.
#pragma once

#include <vector>

#include "daemon/compiler/contract/program_binary.hpp"

namespace llvm {
class Module;
}

namespace clique::daemon::compiler {

/// The kernels that the module defines, in its order. Where arguments lie in the parameter block is left
/// open.
std::vector<Kernel> describe_kernels(const llvm::Module& module);

/// Bytes of the program's variables in global memory: CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE.
std::uint64_t size_of_global_variables(const llvm::Module& module);

}  // namespace clique::daemon::compiler
