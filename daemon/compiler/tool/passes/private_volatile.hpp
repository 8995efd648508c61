// `volatile` on private variables.
#pragma once

namespace llvm {
class Module;
}

namespace clique::daemon::compiler {

/// Takes volatile private variables of one number out of memory: nobody else sees it, and each access would
/// wait for the one before. What is read stays something that nothing is known about, which is what programs
/// use `volatile` for: to keep what is computed of it from being held in registers, or rearranged.
void relax_private_volatile(llvm::Module& module);

}  // namespace clique::daemon::compiler
