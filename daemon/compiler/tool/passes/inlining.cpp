#include "daemon/compiler/tool/passes/inlining.hpp"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>

#include <cstdint>

#include "daemon/compiler/tool/common/is_kernel.hpp"

namespace clique::daemon::compiler {

namespace {

constexpr const char* kInlined = "clique-inlined";

/// Size of the largest kernels whose functions are inlined, in instructions before optimisation with all
/// calls inlined. Compiling such a kernel takes a few seconds.
constexpr std::uint64_t kMostInstructions = 300'000;

/// What functions of a module call. None calls itself, directly or indirectly.
class Calls {
 public:
  /// Instructions of the function with all calls inlined.
  std::uint64_t expanded_size(const llvm::Function& function) {
    if (const auto known = sizes_.find(&function); known != sizes_.end()) return known->second;
    std::uint64_t size = 0;
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      const llvm::Function* const called = called_by(instruction);
      size += called == nullptr ? 1 : expanded_size(*called);
      // Nested calls can multiply the size without bound.
      if (size > kMostInstructions) break;
    }
    return sizes_[&function] = size;
  }

  /// Adds the functions that the function calls, directly or indirectly.
  static void add_called(const llvm::Function& function, llvm::DenseSet<const llvm::Function*>& all) {
    for (const llvm::Instruction& instruction : llvm::instructions(function))
      if (const llvm::Function* const called = called_by(instruction);
          called != nullptr && all.insert(called).second)
        add_called(*called, all);
  }

 private:
  static const llvm::Function* called_by(const llvm::Instruction& instruction) {
    const auto* const call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    const llvm::Function* const called = call == nullptr ? nullptr : call->getCalledFunction();
    return called == nullptr || called->isDeclaration() ? nullptr : called;
  }

  llvm::DenseMap<const llvm::Function*, std::uint64_t> sizes_;
};

}  // namespace

void mark_inlined(llvm::Module& module) {
  Calls calls;
  llvm::DenseSet<const llvm::Function*> left_to_llvm;
  for (const llvm::Function& function : module)
    if (is_kernel(function) && calls.expanded_size(function) > kMostInstructions)
      Calls::add_called(function, left_to_llvm);
  for (llvm::Function& function : module)
    if (!function.isDeclaration() && !is_kernel(function) && !left_to_llvm.contains(&function) &&
        !function.hasFnAttribute(llvm::Attribute::NoInline))
      function.addFnAttr(kInlined);
}

void inline_marked(llvm::Module& module) {
  for (llvm::Function& function : module)
    if (function.hasFnAttribute(kInlined)) function.addFnAttr(llvm::Attribute::AlwaysInline);
}

}  // namespace clique::daemon::compiler
