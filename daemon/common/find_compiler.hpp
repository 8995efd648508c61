#pragma once

#include <string>

namespace clique::daemon::compiler {

/// Path of clique-compiler: $CLIQUE_COMPILER if that is set, otherwise the one of this build or installation,
/// relative to the running program. Empty if there is none.
std::string find_compiler();

}  // namespace clique::daemon::compiler
