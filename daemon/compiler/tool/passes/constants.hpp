// Moving constant tables to the constant bank.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/Analysis/UniformityAnalysis.h>

namespace clique::daemon::compiler {

/// Gives the analysis of which values in a function are the same for all work-items of a warp.
using UniformityOf = llvm::function_ref<const llvm::UniformityInfo&(llvm::Function&)>;

/// Moves constant tables from global memory to `.const`, if they are only read, and all work-items of a warp
/// read the same element. Moves as many as fit, the smallest first. Run after LLVM's optimisations.
void promote_constants(llvm::Module& module, UniformityOf uniformity_of);

}  // namespace clique::daemon::compiler
