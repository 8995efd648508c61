// Program-scope tables in the constant bank.
#pragma once

namespace llvm {
class Module;
}

namespace clique::daemon::compiler {

/// Moves constant tables whose every use is known from global memory to `.const`, as many as fit, the small
/// ones first. To be run after optimising.
void promote_constants(llvm::Module& module);

}  // namespace clique::daemon::compiler
