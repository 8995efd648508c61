#include "daemon/compiler/tool/passes/division.hpp"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

#include <string>
#include <vector>

namespace clique::daemon::compiler {

namespace {

/// A function that consists of one PTX instruction on floats.
llvm::FunctionCallee instruction(llvm::LLVMContext& context, const std::string& mnemonic, unsigned operands) {
  llvm::Type* const number = llvm::Type::getFloatTy(context);
  auto* const type =
      llvm::FunctionType::get(number, std::vector<llvm::Type*>(operands, number), /*isVarArg=*/false);
  std::string text = mnemonic + " $0";
  std::string constraints = "=f";
  for (unsigned i = 1; i <= operands; ++i) {
    text += ", $" + std::to_string(i);
    constraints += ",f";
  }
  return {type, llvm::InlineAsm::get(type, text + ";", constraints, /*hasSideEffects=*/false)};
}

class Relaxing {
 public:
  Relaxing(llvm::LLVMContext& context, bool flush_denorms) {
    const std::string type = flush_denorms ? ".ftz.f32" : ".f32";
    divide_ = instruction(context, "div.full" + type, 2);
    reciprocal_ = instruction(context, "rcp.approx" + type, 1);
    root_ = instruction(context, "sqrt.approx" + type, 1);
  }

  void run(llvm::Function& function) const {
    std::vector<llvm::Instruction*> found;
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (is_relaxed(instruction)) found.push_back(&instruction);
    for (llvm::Instruction* const instruction : found) {
      instruction->replaceAllUsesWith(replacement(*instruction));
      instruction->eraseFromParent();
    }
  }

 private:
  static bool is_root(const llvm::Instruction& instruction) {
    const auto* const call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    return call != nullptr && call->getIntrinsicID() == llvm::Intrinsic::sqrt;
  }

  static bool is_relaxed(const llvm::Instruction& instruction) {
    if (!instruction.getType()->getScalarType()->isFloatTy()) return false;
    if (instruction.getOpcode() != llvm::Instruction::FDiv && !is_root(instruction)) return false;
    return instruction.getMetadata(llvm::LLVMContext::MD_fpmath) != nullptr;
  }

  llvm::Value* replacement(llvm::Instruction& instruction) const {
    llvm::IRBuilder<> builder(&instruction);
    const auto* const vector = llvm::dyn_cast<llvm::FixedVectorType>(instruction.getType());
    llvm::Value* const first = instruction.getOperand(0);
    llvm::Value* const second = is_root(instruction) ? nullptr : instruction.getOperand(1);
    if (vector == nullptr) return scalar(builder, first, second);
    llvm::Value* result = llvm::PoisonValue::get(instruction.getType());
    for (unsigned i = 0; i < vector->getNumElements(); ++i) {
      llvm::Value* const divisor = second == nullptr ? nullptr : builder.CreateExtractElement(second, i);
      result = builder.CreateInsertElement(
          result, scalar(builder, builder.CreateExtractElement(first, i), divisor), i);
    }
    return result;
  }

  llvm::Value* scalar(llvm::IRBuilder<>& builder, llvm::Value* first, llvm::Value* divisor) const {
    if (divisor == nullptr) return builder.CreateCall(root_, {first});
    const auto* const constant = llvm::dyn_cast<llvm::ConstantFP>(first);
    if (constant != nullptr && constant->isExactlyValue(1.0))
      return builder.CreateCall(reciprocal_, {divisor});
    return builder.CreateCall(divide_, {first, divisor});
  }

  llvm::FunctionCallee divide_, reciprocal_, root_;
};

}  // namespace

void relax_divisions(llvm::Module& module, bool flush_denorms) {
  const Relaxing relaxing(module.getContext(), flush_denorms);
  for (llvm::Function& function : module) relaxing.run(function);
}

}  // namespace clique::daemon::compiler
