// Program binaries in readable form.
#pragma once

#include <string>

#include "daemon/compiler/contract/program_binary.hpp"

namespace clique::daemon::compiler {

/// Everything in the binary except the code, as JSON.
std::string metadata_json(const ProgramBinary& binary);

}  // namespace clique::daemon::compiler
