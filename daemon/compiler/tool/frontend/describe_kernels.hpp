// What clGetKernelInfo and clGetKernelArgInfo return, read from the metadata that the front end attaches to
// each kernel.
#pragma once

#include <vector>

#include "daemon/compiler/contract/program_binary.hpp"

namespace llvm {
class Module;
}

namespace clique::daemon::compiler {

/// The kernels that the module defines, in the module's order. The offsets of arguments in the parameter
/// block are not set yet.
std::vector<Kernel> describe_kernels(const llvm::Module& module);

/// Size of the program's variables in global memory, in bytes: CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE.
std::uint64_t size_of_global_variables(const llvm::Module& module);

}  // namespace clique::daemon::compiler
