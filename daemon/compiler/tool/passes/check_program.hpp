// What the front end cannot see: errors of whole programs.
#pragma once

#include <string>
#include <vector>

#include "daemon/compiler/contract/program_binary.hpp"

namespace llvm {
class Module;
}

namespace clique::daemon::compiler {

/// Messages for functions that call themselves, directly or not, which OpenCL C forbids (section 6.11 i).
/// Empty where there are none.
std::string find_recursion(llvm::Module& module);

/// Messages for kernels that no launch can satisfy.
std::string find_impossible(const std::vector<Kernel>& kernels);

/// Messages for functions and variables that are used but nowhere defined, but for hidden values.
std::string find_undefined(const llvm::Module& module);

}  // namespace clique::daemon::compiler
