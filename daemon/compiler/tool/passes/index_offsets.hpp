// Separating constant offsets from array indices.
#pragma once

namespace llvm {
class Module;
}

namespace clique::daemon::compiler {

/// Lets elements of an array whose indices differ by constants share one address. Each access then has a
/// constant offset, which loads and stores add at no cost. This applies to 32-bit indices that cannot be
/// negative, such as indices into local memory computed from local ids. LLVM does the same only if the
/// constant is the outermost summand. Run after LLVM's optimisations.
void separate_index_offsets(llvm::Module& module);

}  // namespace clique::daemon::compiler
