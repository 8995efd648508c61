// Program-scope tables in the constant bank.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/Analysis/UniformityAnalysis.h>

namespace clique::daemon::compiler {

/// Which values of a function are the same for all work-items of a warp.
using UniformityOf = llvm::function_ref<const llvm::UniformityInfo&(llvm::Function&)>;

/// Moves constant tables that are only ever read, by all work-items of a warp at the same place, from global
/// memory to `.const`, as many as fit, the small ones first. To be run after optimising.
void promote_constants(llvm::Module& module, UniformityOf uniformity_of);

}  // namespace clique::daemon::compiler
