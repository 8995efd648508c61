// What pointers of a kernel point to.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>

#include <map>
#include <optional>
#include <vector>

#include "daemon/compiler/tool/footprints/numbers.hpp"
#include "protocol/footprint.hpp"

namespace clique::daemon::compiler::footprints {

/// What a pointer points to.
struct Place {
  enum Kind { Own, Constant, Buffer } kind = Own;  ///< Own: private or local memory
  Index argument = 0;
  Index offset = 0;  ///< a number of kPointerBits
};
using Places = std::vector<Place>;

/// Finds what the pointers of one kernel point to. Throws Obstacle if that is not analysed.
class PlaceFinder {
 public:
  /// @param result is told if the kernel uses local memory; like the others, it must outlive this object
  PlaceFinder(const llvm::DataLayout& layout, const llvm::LoopInfo& loops, Numbers& numbers,
              protocol::Footprint& result)
      : layout_(layout), loops_(loops), numbers_(numbers), result_(result) {}

  /// All places that the pointer may point to. More than one only if it is one of several pointers.
  /// @param user for the message
  const Places& places_of(const llvm::Value* pointer, const llvm::Instruction* user);

 private:
  /// places_of() for a pointer that is asked for the first time.
  Places find_places(const llvm::Value* pointer, const llvm::Instruction* user);
  /// The pointer that this one is only another form of; null if there is none.
  static const llvm::Value* unchanged(const llvm::Value* pointer);
  /// A place in local memory.
  Place local();
  /// Adds places to others. There are few: further ones in the same buffer become one, in any of its bytes
  /// between theirs.
  void add(Places& places, const Places& others);
  /// The places of a pointer that changes in each iteration of a loop.
  Places places_in_loop(const llvm::PHINode& phi, const llvm::Instruction* user);
  /// Any bytes of the buffers that the pointer may point into: those of the pointers that it is computed
  /// from, because programs must not leave a buffer by computing with pointers.
  Places anywhere(const llvm::PHINode& phi, const llvm::Instruction* user);
  /// Whether the element's indices are the same in all iterations of the loop.
  static bool invariant(const llvm::GEPOperator& element, const llvm::Loop& loop);
  /// The distance in bytes between an element and the pointer that it is computed from.
  Index offset_in(const llvm::GEPOperator& element);

  const llvm::DataLayout& layout_;
  const llvm::LoopInfo& loops_;
  Numbers& numbers_;
  protocol::Footprint& result_;
  std::map<const llvm::Value*, std::optional<Places>> places_;
};

}  // namespace clique::daemon::compiler::footprints
