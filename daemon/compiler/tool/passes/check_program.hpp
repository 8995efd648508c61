// Errors that only show in a complete program, so that the front end cannot find them.
#pragma once

#include <string>
#include <vector>

#include "daemon/compiler/contract/program_binary.hpp"

namespace llvm {
class Module;
}

namespace clique::daemon::compiler {

/// Error messages for functions that call themselves, directly or indirectly, which OpenCL C forbids (section
/// 6.11 i). Empty if there are none.
std::string find_recursion(llvm::Module& module);

/// Error messages for kernels that cannot be launched: too many arguments, or a sub-group size that the
/// device does not have. Empty if there are none.
std::string find_impossible(const std::vector<Kernel>& kernels);

/// Error messages for functions and variables that are used but not defined, except for hidden values. Empty
/// if there are none.
std::string find_undefined(const llvm::Module& module);

}  // namespace clique::daemon::compiler
