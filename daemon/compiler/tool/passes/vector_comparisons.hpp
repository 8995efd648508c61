// Works around an error in LLVM 19. PTX has no comparisons of vectors. LLVM splits most of them, but cannot
// select instructions for some whose result becomes a vector of smaller integers.
#pragma once

namespace llvm {
class Module;
}

namespace clique::daemon::compiler {

/// Splits comparisons of vectors into comparisons of their components. Run after all optimisations.
void split_vector_comparisons(llvm::Module& module);

}  // namespace clique::daemon::compiler
