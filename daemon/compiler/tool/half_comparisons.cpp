#include "daemon/compiler/tool/half_comparisons.hpp"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>

#include <vector>

namespace clique::daemon::compiler {

namespace {

llvm::Value* by_components(llvm::FCmpInst& comparison) {
  llvm::IRBuilder<> builder(&comparison);
  builder.setFastMathFlags(comparison.getFastMathFlags());
  llvm::Value* result = llvm::PoisonValue::get(comparison.getType());
  const unsigned count = llvm::cast<llvm::FixedVectorType>(comparison.getType())->getNumElements();
  for (unsigned i = 0; i < count; ++i) {
    llvm::Value* const left = builder.CreateExtractElement(comparison.getOperand(0), i);
    llvm::Value* const right = builder.CreateExtractElement(comparison.getOperand(1), i);
    llvm::Value* const holds = builder.CreateFCmp(comparison.getPredicate(), left, right);
    result = builder.CreateInsertElement(result, holds, i);
  }
  return result;
}

}  // namespace

void split_half_comparisons(llvm::Module& module) {
  std::vector<llvm::FCmpInst*> found;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* const comparison = llvm::dyn_cast<llvm::FCmpInst>(&instruction))
        if (comparison->getType()->isVectorTy() &&
            comparison->getOperand(0)->getType()->getScalarType()->isHalfTy())
          found.push_back(comparison);
  for (llvm::FCmpInst* const comparison : found) {
    comparison->replaceAllUsesWith(by_components(*comparison));
    comparison->eraseFromParent();
  }
}

}  // namespace clique::daemon::compiler
