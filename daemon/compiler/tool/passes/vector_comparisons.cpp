#include "daemon/compiler/tool/passes/vector_comparisons.hpp"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>

#include <vector>

namespace clique::daemon::compiler {

namespace {

llvm::Value* by_components(llvm::CmpInst& comparison) {
  llvm::IRBuilder<> builder(&comparison);
  if (llvm::isa<llvm::FCmpInst>(comparison)) builder.setFastMathFlags(comparison.getFastMathFlags());
  llvm::Value* result = llvm::PoisonValue::get(comparison.getType());
  const unsigned count = llvm::cast<llvm::FixedVectorType>(comparison.getType())->getNumElements();
  for (unsigned i = 0; i < count; ++i) {
    llvm::Value* const left = builder.CreateExtractElement(comparison.getOperand(0), i);
    llvm::Value* const right = builder.CreateExtractElement(comparison.getOperand(1), i);
    llvm::Value* const holds = builder.CreateCmp(comparison.getPredicate(), left, right);
    result = builder.CreateInsertElement(result, holds, i);
  }
  return result;
}

}  // namespace

void split_vector_comparisons(llvm::Module& module) {
  std::vector<llvm::CmpInst*> found;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* const comparison = llvm::dyn_cast<llvm::CmpInst>(&instruction);
          comparison != nullptr && comparison->getType()->isVectorTy())
        found.push_back(comparison);
  for (llvm::CmpInst* const comparison : found) {
    comparison->replaceAllUsesWith(by_components(*comparison));
    comparison->eraseFromParent();
  }
}

}  // namespace clique::daemon::compiler
