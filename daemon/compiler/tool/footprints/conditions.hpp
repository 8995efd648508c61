// The conditions under which the instructions of a kernel run.
#pragma once

#include <llvm/IR/BasicBlock.h>
#include <llvm/IR/Dominators.h>

#include <map>
#include <tuple>
#include <vector>

#include "daemon/compiler/tool/footprints/numbers.hpp"
#include "protocol/footprint.hpp"

namespace clique::daemon::compiler::footprints {

/// Describes conditions of one kernel.
class ConditionFinder {
 public:
  /// @param result gets the conditions; like the others, it must outlive this object
  ConditionFinder(const llvm::DominatorTree& dominators, Numbers& numbers, protocol::Footprint& result)
      : dominators_(dominators), numbers_(numbers), result_(result) {}

  /// The conditions that hold whenever the block runs: those of the branches that lead to it, as places in
  /// Footprint::conditions.
  std::vector<Index> conditions_at(const llvm::BasicBlock& block);
  /// The conditions that hold whenever that number is chosen.
  std::vector<Index> conditions_of(const Chosen& chosen);

 private:
  /// The same, without repetitions, and not more than an access may have.
  static void tidy(std::vector<Index>& conditions);
  /// Adds the conditions under which a truth value is `holds`.
  void add_conditions(const llvm::Value* value, bool holds, std::vector<Index>& conditions);

  const llvm::DominatorTree& dominators_;
  Numbers& numbers_;
  protocol::Footprint& result_;
  std::map<std::tuple<protocol::Comparison, Index, Index>, Index> known_;
  std::map<const llvm::BasicBlock*, std::vector<Index>> conditions_of_;
};

}  // namespace clique::daemon::compiler::footprints
