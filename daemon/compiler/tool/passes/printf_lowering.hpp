// Calls of printf become records in the launch's buffer (library/abi.h).
#pragma once

#include "daemon/compiler/contract/program_binary.hpp"

namespace llvm {
class Module;
}

namespace clique::daemon::compiler {

/// Adds the formats and strings to `program`. Throws std::runtime_error where a format is not a constant.
void lower_printf(llvm::Module& module, ProgramBinary& program);

}  // namespace clique::daemon::compiler
