#include "daemon/compiler/tool/passes/multiply_add.hpp"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>

#include <vector>

namespace clique::daemon::compiler {

namespace {

using namespace llvm::PatternMatch;

/// The integer operations of a kind, in the order of the module. Larger numbers take several instructions
/// anyway, and smaller ones become larger ones.
std::vector<llvm::BinaryOperator*> operations(llvm::Module& module, unsigned opcode) {
  std::vector<llvm::BinaryOperator*> found;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      const llvm::Type* const type = instruction.getType()->getScalarType();
      if (instruction.getOpcode() == opcode && (type->isIntegerTy(16) || type->isIntegerTy(32)))
        found.push_back(llvm::cast<llvm::BinaryOperator>(&instruction));
    }
  return found;
}

/// How to write sum * factor as x * factor + y.
struct Expansion {
  llvm::Value* x = nullptr;  ///< null: it cannot be written like this
  llvm::Value* y = nullptr;
};

Expansion expansion_of(llvm::Value* sum, llvm::Value* factor) {
  llvm::Value* one = nullptr;
  llvm::Value* other = nullptr;
  if (match(sum, m_Add(m_Value(one), m_One()))) return {one, factor};
  if (!match(sum, m_Add(m_Value(one), m_Value(other)))) return {};
  if (match(one, m_c_Mul(m_Specific(other), m_Specific(factor)))) return {one, one};
  if (match(other, m_c_Mul(m_Specific(one), m_Specific(factor)))) return {other, other};
  return {};
}

void expand(llvm::BinaryOperator& product) {
  for (const unsigned position : {0U, 1U}) {
    auto* const sum = llvm::dyn_cast<llvm::Instruction>(product.getOperand(position));
    llvm::Value* const factor = product.getOperand(1 - position);
    // A sum that remains costs its instruction anyway. One of another block may have been moved out of a
    // loop.
    if (sum == nullptr || !sum->hasOneUse() || sum->getParent() != product.getParent()) continue;
    const Expansion expansion = expansion_of(sum, factor);
    if (expansion.x == nullptr) continue;
    llvm::IRBuilder<> builder(&product);
    product.replaceAllUsesWith(builder.CreateAdd(builder.CreateMul(expansion.x, factor), expansion.y));
    product.eraseFromParent();
    sum->eraseFromParent();
    return;
  }
}

/// a * b + c for numbers.
llvm::Value* multiply_add(llvm::IRBuilder<>& builder, llvm::Value* a, llvm::Value* b, llvm::Value* c) {
  llvm::Type* const type = a->getType();
  if (type->isIntegerTy(32)) return builder.CreateAdd(builder.CreateMul(a, b), c);
  auto* const function = llvm::FunctionType::get(type, {type, type, type}, false);
  auto* const instruction =
      llvm::InlineAsm::get(function, "mad.lo.s16 $0, $1, $2, $3;", "=h,h,h,h", /*hasSideEffects=*/false);
  return builder.CreateCall(function, instruction, {a, b, c});
}

/// Rewrites a sum if one of its terms is a product that has no other use.
void rewrite(llvm::BinaryOperator& sum) {
  llvm::Instruction* product = nullptr;
  llvm::Value* term = nullptr;
  const auto is_product = m_OneUse(m_CombineAnd(m_Mul(m_Value(), m_Value()), m_Instruction(product)));
  if (!match(&sum, m_c_Add(is_product, m_Value(term)))) return;
  llvm::IRBuilder<> builder(&sum);
  llvm::Value* const a = product->getOperand(0);
  llvm::Value* const b = product->getOperand(1);
  llvm::Value* result = nullptr;
  if (const auto* const type = llvm::dyn_cast<llvm::FixedVectorType>(sum.getType())) {
    result = llvm::PoisonValue::get(sum.getType());
    for (unsigned i = 0; i < type->getNumElements(); ++i) {
      const auto component = [&](llvm::Value* vector) { return builder.CreateExtractElement(vector, i); };
      llvm::Value* const number = multiply_add(builder, component(a), component(b), component(term));
      result = builder.CreateInsertElement(result, number, i);
    }
  } else if (sum.getType()->isIntegerTy(16)) {
    result = multiply_add(builder, a, b, term);
  } else {
    return;
  }
  sum.replaceAllUsesWith(result);
  sum.eraseFromParent();
  product->eraseFromParent();
}

}  // namespace

void use_multiply_add(llvm::Module& module) {
  const auto products = operations(module, llvm::Instruction::Mul);
  // The last one first, because expanding it may remove one of two uses of an earlier sum.
  for (auto product = products.rbegin(); product != products.rend(); ++product) expand(**product);
  for (llvm::BinaryOperator* const sum : operations(module, llvm::Instruction::Add)) rewrite(*sum);
}

}  // namespace clique::daemon::compiler
