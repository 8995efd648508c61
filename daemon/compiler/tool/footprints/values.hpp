// Values of LLVM's representation: their types, comparisons, and how they change in loops.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/InstrTypes.h>

#include <optional>

#include "protocol/footprint.hpp"

namespace clique::daemon::compiler::footprints {

/// Whether values of the type are numbers to the analysis: integers of up to 64 bits.
bool is_number(const llvm::Type* type);

/// The value without extensions to the width that it has.
const llvm::Value* unextended(const llvm::Value* value);

/// How a condition compares its operands.
struct Compared {
  protocol::Comparison comparison = protocol::Comparison::Different;
  bool swapped = false;  ///< the second operand is the left one
};

/// A predicate that the protocol does not have counts as Comparison::Different.
Compared comparison_of(llvm::CmpInst::Predicate predicate);

/// Whether the value is the same in all iterations of a loop: no pass has moved such values out of loops.
bool is_invariant(const llvm::Value* value, const llvm::Loop& loop);

/// A number that changes by the same step in each iteration of a loop.
struct LoopVariable {
  const llvm::Value* start;
  const llvm::Value* next;  ///< its value in the next iteration
  const llvm::Value* step;
  bool subtracted;
};

/// @returns nothing if the value does not change like that
std::optional<LoopVariable> variable_of(const llvm::PHINode& phi, const llvm::Loop& loop);

}  // namespace clique::daemon::compiler::footprints
