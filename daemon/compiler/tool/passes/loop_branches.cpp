#include "daemon/compiler/tool/passes/loop_branches.hpp"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

namespace clique::daemon::compiler {

namespace {

void invert(llvm::BranchInst& branch) {
  llvm::Value* const condition = branch.getCondition();
  auto* const comparison = llvm::dyn_cast<llvm::CmpInst>(condition);
  if (comparison != nullptr && comparison->hasOneUse()) {
    comparison->setPredicate(comparison->getInversePredicate());
  } else {
    branch.setCondition(llvm::IRBuilder<>(&branch).CreateNot(condition));
  }
  branch.swapSuccessors();
}

}  // namespace

void branch_back_to_loops(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    const llvm::DominatorTree dominators(function);
    const llvm::LoopInfo loops(dominators);
    for (const llvm::Loop* const loop : loops.getLoopsInPreorder()) {
      llvm::BasicBlock* const latch = loop->getLoopLatch();
      if (latch == nullptr) continue;
      auto* const branch = llvm::dyn_cast<llvm::BranchInst>(latch->getTerminator());
      if (branch != nullptr && branch->isConditional() && branch->getSuccessor(0) != loop->getHeader())
        invert(*branch);
    }
  }
}

}  // namespace clique::daemon::compiler
