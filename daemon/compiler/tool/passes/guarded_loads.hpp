// Loads under a condition, without branches.
#pragma once

#include <llvm/IR/PassManager.h>

namespace llvm {
class Module;
}

namespace clique::daemon::compiler {

/// Turns branches around loads from global memory, as of `condition ? *pointer : 0.0f`, into masked loads of
/// one element. Kernels with hundreds of such branches would need a block for each, across which neither LLVM
/// nor the driver's compiler orders loads and shares registers well. For
/// PassBuilder::registerPeepholeEPCallback().
class MaskGuardedLoads : public llvm::PassInfoMixin<MaskGuardedLoads> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

/// Writes the masked loads of MaskGuardedLoads as predicated instructions of PTX. LLVM would turn them back
/// into branches. Run after LLVM's optimisations, which do not look into these instructions.
void predicate_masked_loads(llvm::Module& module);

}  // namespace clique::daemon::compiler
