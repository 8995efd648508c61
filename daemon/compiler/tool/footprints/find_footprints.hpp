// What kernels read and write: the analysis that allows the client to divide launches among devices.
#pragma once

#include <vector>

#include "protocol/footprint.hpp"

namespace llvm {
class Module;
}

namespace clique::daemon::compiler {

/// Describes every kernel of a complete program that is not yet optimised and has no definitions of the
/// builtin functions. Inlines the program's functions. What the analysis does not understand becomes an
/// unknown number, which stands for any, or an obstacle.
std::vector<protocol::Footprint> find_footprints(llvm::Module& module);

}  // namespace clique::daemon::compiler
