// `volatile` private variables.
#pragma once

namespace llvm {
class Module;
}

namespace clique::daemon::compiler {

/// Lets volatile private variables that hold one number live in registers: no other work-item can see them,
/// and in memory each access would wait for the previous one. LLVM still assumes nothing about a value that
/// is read. That is what programs use such variables for: to keep values computed from them from being held
/// in registers or reordered.
void relax_private_volatile(llvm::Module& module);

}  // namespace clique::daemon::compiler
