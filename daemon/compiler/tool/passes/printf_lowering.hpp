// Replacing calls of printf by code that writes records into the launch's printf buffer (library/abi.h).
#pragma once

#include "daemon/compiler/contract/program_binary.hpp"

namespace llvm {
class Module;
}

namespace clique::daemon::compiler {

/// Replaces all calls, and adds their formats and constant strings to `program`. Throws std::runtime_error if
/// a format is not a constant or an argument is a structure.
void lower_printf(llvm::Module& module, ProgramBinary& program);

}  // namespace clique::daemon::compiler
