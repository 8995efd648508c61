// Comparisons of vectors, which PTX has none of: LLVM 19 takes most of them apart, but cannot select
// instructions for some whose result becomes a vector of smaller integers.
#pragma once

namespace llvm {
class Module;
}

namespace clique::daemon::compiler {

/// Makes them comparisons of their components. After all optimisations.
void split_vector_comparisons(llvm::Module& module);

}  // namespace clique::daemon::compiler
