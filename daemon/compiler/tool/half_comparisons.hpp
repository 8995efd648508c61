// Comparisons of vectors of half, which LLVM 19 cannot select instructions for where the result becomes a
// vector of integers.
#pragma once

namespace llvm {
class Module;
}

namespace clique::daemon::compiler {

/// Makes comparisons of vectors of half ones of their components. After all optimisations.
void split_half_comparisons(llvm::Module& module);

}  // namespace clique::daemon::compiler
