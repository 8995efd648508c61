// Private arrays in registers.
#pragma once

#include <llvm/Transforms/Scalar/LoopPassManager.h>

namespace clique::daemon::compiler {

/// Marks loops for full unrolling that index a small private array by their counter, even if they become
/// longer than other loops may. Registers cannot be indexed, so that without unrolling the array lies in
/// memory, for all of the kernel's accesses. For PassBuilder::registerLateLoopOptimizationsEPCallback(),
/// which is before LLVM unrolls and before it replaces arrays by registers.
class UnrollForPrivateArrays : public llvm::PassInfoMixin<UnrollForPrivateArrays> {
 public:
  llvm::PreservedAnalyses run(llvm::Loop& loop, llvm::LoopAnalysisManager& analyses,
                              llvm::LoopStandardAnalysisResults& results, llvm::LPMUpdater& updater);
};

}  // namespace clique::daemon::compiler
