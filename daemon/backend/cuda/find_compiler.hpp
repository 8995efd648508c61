#pragma once

#include <string>

namespace clique::daemon::cuda {

/// The path of clique-compiler: CLIQUE_COMPILER, where the build or the installation of this program has it,
/// or one in PATH; empty where there is none.
std::string find_compiler();

}  // namespace clique::daemon::cuda
