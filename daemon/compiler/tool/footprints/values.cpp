#include "daemon/compiler/tool/footprints/values.hpp"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Instructions.h>

#include "daemon/compiler/tool/footprints/builtins.hpp"

namespace clique::daemon::compiler::footprints {

namespace {

using protocol::Comparison;

/// The same as is_invariant(), for an operand `depth` steps away from its value.
bool is_invariant_at(const llvm::Value* value, const llvm::Loop& loop, unsigned depth) {
  constexpr unsigned kDeepest = 16;
  if (loop.isLoopInvariant(value)) return true;
  const auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
  if (instruction == nullptr || depth == kDeepest) return false;
  if (const auto* call = llvm::dyn_cast<llvm::CallBase>(instruction)) {
    const llvm::Function* function = call->getCalledFunction();
    if (function == nullptr || !query_of(builtin_of(function->getName()).name)) return false;
  } else if (llvm::isa<llvm::PHINode>(instruction) || llvm::isa<llvm::FreezeInst>(instruction) ||
             instruction->mayReadOrWriteMemory()) {
    return false;
  }
  return llvm::all_of(instruction->operands(), [&](const llvm::Use& operand) {
    return llvm::isa<llvm::Function>(operand.get()) || is_invariant_at(operand.get(), loop, depth + 1);
  });
}

}  // namespace

bool is_number(const llvm::Type* type) {
  return type->isIntegerTy() && type->getIntegerBitWidth() <= 64;
}

const llvm::Value* unextended(const llvm::Value* value) {
  const auto* cast = llvm::dyn_cast<llvm::CastInst>(value);
  return cast != nullptr && (llvm::isa<llvm::SExtInst>(cast) || llvm::isa<llvm::ZExtInst>(cast))
             ? cast->getOperand(0)
             : value;
}

Compared comparison_of(llvm::CmpInst::Predicate predicate) {
  using llvm::CmpInst;
  const bool swapped = predicate == CmpInst::ICMP_SGT || predicate == CmpInst::ICMP_SGE ||
                       predicate == CmpInst::ICMP_UGT || predicate == CmpInst::ICMP_UGE;
  switch (swapped ? CmpInst::getSwappedPredicate(predicate) : predicate) {
    case CmpInst::ICMP_EQ:
      return {Comparison::Equal, swapped};
    case CmpInst::ICMP_SLT:
      return {Comparison::LessSigned, swapped};
    case CmpInst::ICMP_SLE:
      return {Comparison::LessEqualSigned, swapped};
    case CmpInst::ICMP_ULT:
      return {Comparison::LessUnsigned, swapped};
    case CmpInst::ICMP_ULE:
      return {Comparison::LessEqualUnsigned, swapped};
    default:
      return {Comparison::Different, swapped};
  }
}

bool is_invariant(const llvm::Value* value, const llvm::Loop& loop) {
  return is_invariant_at(value, loop, 0);
}

std::optional<LoopVariable> variable_of(const llvm::PHINode& phi, const llvm::Loop& loop) {
  const llvm::BasicBlock* const latch = loop.getLoopLatch();
  if (latch == nullptr || phi.getNumIncomingValues() != 2 || !is_number(phi.getType())) return std::nullopt;
  const unsigned last = phi.getIncomingBlock(0) == latch ? 0 : 1;
  LoopVariable variable{phi.getIncomingValue(1 - last), phi.getIncomingValue(last), nullptr, false};
  const llvm::Value* sum = variable.next;
  // The sum may be computed with more bits.
  const bool truncated = llvm::isa<llvm::TruncInst>(sum);
  if (truncated) sum = llvm::cast<llvm::TruncInst>(sum)->getOperand(0);
  const auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(sum);
  if (operation == nullptr || !is_number(operation->getType())) return std::nullopt;
  const auto is_phi = [&](const llvm::Value* operand) {
    return operand == &phi || (truncated && unextended(operand) == &phi);
  };
  const llvm::Value* const left = operation->getOperand(0);
  const llvm::Value* const right = operation->getOperand(1);
  if (operation->getOpcode() == llvm::Instruction::Add && is_phi(left)) {
    variable.step = right;
  } else if (operation->getOpcode() == llvm::Instruction::Add && is_phi(right)) {
    variable.step = left;
  } else if (operation->getOpcode() == llvm::Instruction::Sub && is_phi(left)) {
    variable.step = right;
    variable.subtracted = true;
  } else {
    return std::nullopt;
  }
  if (!is_invariant(variable.step, loop)) return std::nullopt;
  return variable;
}

}  // namespace clique::daemon::compiler::footprints
