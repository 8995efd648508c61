#pragma once

#include <string>

#include "daemon/compiler/contract/program_binary.hpp"

namespace clique::daemon::compiler {

/// Everything but the code, for people and scripts.
std::string metadata_json(const ProgramBinary& binary);

}  // namespace clique::daemon::compiler
