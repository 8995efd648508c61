// The numbers of a footprint, which stand for integers that a kernel computes.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Instructions.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "daemon/compiler/tool/footprints/values.hpp"
#include "protocol/footprint.hpp"

namespace clique::daemon::compiler::footprints {

using Op = protocol::FootprintOp;
/// A place in Footprint::numbers.
using Index = std::uint32_t;

/// Bits of the numbers that stand for offsets.
constexpr unsigned kPointerBits = 64;

/// When one of two numbers is chosen: a branch was taken, or a truth value is `holds`. Neither: that is not
/// known.
struct Chosen {
  const llvm::BasicBlock* from = nullptr;  ///< of the branch, or null
  const llvm::BasicBlock* to = nullptr;
  const llvm::Value* truth = nullptr;  ///< or null
  bool holds = false;
};

/// Describes integers of one kernel as numbers of its footprint, and the loops that they are counted in.
/// Throws Obstacle if there are too many.
class Numbers {
 public:
  /// @param result gets the numbers and loops; like the others, it must outlive this object
  Numbers(const llvm::DominatorTree& dominators, const llvm::LoopInfo& loops, protocol::Footprint& result)
      : dominators_(dominators), loops_(loops), result_(result) {}

  /// A constant of `bits` bits.
  Index constant(std::int64_t value, unsigned bits);
  /// A number that may have any value of `bits` bits.
  Index unknown(unsigned bits);
  /// What an operation makes of two numbers.
  Index binary(Op op, unsigned bits, Index a, Index b);
  /// What an operation makes of one number, and of a constant where it takes one.
  Index unary(Op op, unsigned bits, Index a, std::int64_t value = 0);
  /// The number with another width.
  Index resized(const llvm::Value* value, unsigned bits, bool is_signed);
  /// The number that stands for a value of a type for which is_number() holds.
  Index number_of(const llvm::Value* value);
  /// The number that stands for an element of a vector whose elements are numbers.
  Index number_of_lane(const llvm::Value* vector, unsigned lane);
  /// start + counter × step
  Index induction(const llvm::Loop& loop, Index start, Index step, unsigned bits);
  /// A number that takes all values from 0 to one less than the value of `count`: the counter of a loop of
  /// its own. At least 0.
  Index counted(const llvm::Value* count);
  /// The last choice between two numbers (Op::Either) on which some of these depend: none of them depends on
  /// what else is computed from it and chosen. Nothing: there is none.
  std::optional<Index> choice_in(const std::vector<Index>& numbers) const;
  /// When the first or the second number is chosen.
  Chosen chosen(Index choice, bool second) const;
  /// What a number is if the first or the second one of that choice is chosen.
  Index with_choice(Index number, Index choice, bool second);
  /// Whether a number depends on global or group ids, and on nothing that is not known.
  bool depends_on_ids(Index number) const;

 private:
  /// One of two numbers. @param ways when each is chosen
  Index either(unsigned bits, Index a, Index b, std::array<Chosen, 2> ways);
  /// For each number up to the last one of these, whether some of these depend on it.
  std::vector<bool> used_by(const std::vector<Index>& numbers) const;
  /// The place of a number, which is added if it is not there yet.
  Index number(const protocol::FootprintNumber& number);
  /// number_of() and number_of_lane() for a value that is asked for the first time.
  Index find_number(const llvm::Value* value);
  Index find_lane(const llvm::Value* vector, unsigned lane);
  /// What an operation computes.
  Index result_of(const llvm::BinaryOperator& operation, unsigned bits);
  /// What a function returns.
  Index answer_of(const llvm::CallBase& call, unsigned bits);
  /// One of several values, or the variable of a loop.
  Index number_of_phi(const llvm::PHINode& phi, unsigned bits);
  /// What is added to the variable in each iteration.
  Index step_of(const LoopVariable& variable, unsigned bits);
  /// The place of a loop in Footprint::loops, which is added if it is not there yet.
  Index number_of_loop(const llvm::Loop& loop);
  /// What bounds the iterations of a loop.
  protocol::FootprintLoop describe(const llvm::Loop& loop);
  /// @param first whether the first operand is taken for the variable
  std::optional<protocol::FootprintLoop> bounded_by(const llvm::Loop& loop, const llvm::ICmpInst& test,
                                                    bool stays, bool first);
  /// Whether the value is computed from what the kernel reads of buffers or images. For people: nothing is
  /// decided by it. Large computations are not followed to their ends.
  static bool depends_on_data(const llvm::Value* value);
  /// Whether a pointer is one to a buffer.
  static bool is_shared_data(const llvm::Value* pointer);

  const llvm::DominatorTree& dominators_;
  const llvm::LoopInfo& loops_;
  protocol::Footprint& result_;
  unsigned bitwise_ = 0;  ///< how many operations on single bits have been analysed
  std::map<const llvm::Value*, std::optional<Index>> numbers_of_;
  std::map<std::pair<const llvm::Value*, unsigned>, Index> lanes_;
  std::map<std::tuple<Op, std::uint8_t, Index, Index, std::int64_t>, Index> known_numbers_;
  std::map<const llvm::Loop*, Index> known_loops_;
  std::map<Index, std::array<Chosen, 2>> choices_;
};

}  // namespace clique::daemon::compiler::footprints
