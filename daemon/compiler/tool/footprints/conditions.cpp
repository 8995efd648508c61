#include "daemon/compiler/tool/footprints/conditions.hpp"

#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>

#include <algorithm>

#include "daemon/compiler/tool/footprints/values.hpp"

namespace clique::daemon::compiler::footprints {

std::vector<Index> ConditionFinder::conditions_at(const llvm::BasicBlock& block) {
  if (const auto found = conditions_of_.find(&block); found != conditions_of_.end()) return found->second;
  std::vector<Index> conditions;
  for (const auto* node = dominators_.getNode(&block); node != nullptr; node = node->getIDom()) {
    const llvm::BasicBlock* const before = node->getBlock();
    const auto* branch = llvm::dyn_cast<llvm::BranchInst>(before->getTerminator());
    if (before == &block || branch == nullptr || !branch->isConditional()) continue;
    if (branch->getSuccessor(0) == branch->getSuccessor(1)) continue;
    for (const unsigned side : {0U, 1U})
      if (dominators_.dominates(llvm::BasicBlockEdge(before, branch->getSuccessor(side)), &block))
        add_conditions(branch->getCondition(), side == 0, conditions);
  }
  tidy(conditions);
  conditions_of_[&block] = conditions;
  return conditions;
}

std::vector<Index> ConditionFinder::conditions_of(const Chosen& chosen) {
  std::vector<Index> conditions;
  if (chosen.from != nullptr) {
    conditions = conditions_at(*chosen.from);
    const auto* branch = llvm::dyn_cast<llvm::BranchInst>(chosen.from->getTerminator());
    if (branch != nullptr && branch->isConditional() && branch->getSuccessor(0) != branch->getSuccessor(1))
      add_conditions(branch->getCondition(), branch->getSuccessor(0) == chosen.to, conditions);
  }
  if (chosen.truth != nullptr && chosen.truth->getType()->isIntegerTy(1))
    add_conditions(chosen.truth, chosen.holds, conditions);
  tidy(conditions);
  return conditions;
}

void ConditionFinder::tidy(std::vector<Index>& conditions) {
  llvm::sort(conditions);
  conditions.erase(std::unique(conditions.begin(), conditions.end()), conditions.end());
  conditions.resize(std::min(conditions.size(), protocol::kMostFootprintConditions));
}

void ConditionFinder::add_conditions(const llvm::Value* value, bool holds, std::vector<Index>& conditions) {
  using namespace llvm::PatternMatch;
  const llvm::Value* one = nullptr;
  const llvm::Value* other = nullptr;
  if (match(value, m_Not(m_Value(one)))) return add_conditions(one, !holds, conditions);
  if (holds ? match(value, m_LogicalAnd(m_Value(one), m_Value(other)))
            : match(value, m_LogicalOr(m_Value(one), m_Value(other)))) {
    add_conditions(one, holds, conditions);
    add_conditions(other, holds, conditions);
    return;
  }
  const auto* test = llvm::dyn_cast<llvm::ICmpInst>(value);
  if (test == nullptr || !is_number(test->getOperand(0)->getType())) return;
  // A truth value that was made a number.
  if (test->isEquality() && match(test->getOperand(1), m_Zero()) &&
      unextended(test->getOperand(0))->getType()->isIntegerTy(1))
    return add_conditions(unextended(test->getOperand(0)),
                          holds == (test->getPredicate() == llvm::CmpInst::ICMP_NE), conditions);
  const auto [comparison, swapped] =
      comparison_of(holds ? test->getPredicate() : test->getInversePredicate());
  const Index a = numbers_.number_of(test->getOperand(swapped ? 1 : 0));
  const Index b = numbers_.number_of(test->getOperand(swapped ? 0 : 1));
  const auto [found, added] =
      known_.try_emplace(std::tuple(comparison, a, b), static_cast<Index>(result_.conditions.size()));
  if (added) result_.conditions.push_back({comparison, a, b});
  conditions.push_back(found->second);
}

}  // namespace clique::daemon::compiler::footprints
