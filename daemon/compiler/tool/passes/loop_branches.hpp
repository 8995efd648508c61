// ptxas unrolls a loop again whose last instruction is a conditional branch to its beginning. LLVM also
// writes a conditional branch out of the loop before an unconditional one to its beginning, which ptxas
// leaves as it is.
#pragma once

namespace llvm {
class Module;
}

namespace clique::daemon::compiler {

/// Inverts the conditions of branches that end an iteration, where that makes them branch back if the
/// condition holds. Run after all optimisations, which would not keep the result.
void branch_back_to_loops(llvm::Module& module);

}  // namespace clique::daemon::compiler
