#include "daemon/compiler/tool/passes/private_arrays.hpp"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include <cstdint>

namespace clique::daemon::compiler {

namespace {

/// A work-item has 255 registers of 4 bytes at most, and needs some for other values.
constexpr std::uint64_t kLargestArray = 512;
/// The instructions of an unrolled loop. More would fill the instruction cache, and take seconds to compile.
constexpr std::uint64_t kMostUnrolled = 16'000;

bool is_small_array(const llvm::Value& object, const llvm::DataLayout& layout) {
  const auto* const array = llvm::dyn_cast<llvm::AllocaInst>(&object);
  if (array == nullptr || !array->isStaticAlloca()) return false;
  const auto size = array->getAllocationSize(layout);
  return size && !size->isScalable() && size->getFixedValue() <= kLargestArray;
}

bool indexes_small_array(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  const llvm::DataLayout& layout = loop.getHeader()->getDataLayout();
  for (const llvm::BasicBlock* const block : loop.blocks())
    for (const llvm::Instruction& instruction : *block)
      if (const llvm::Value* const pointer = llvm::getLoadStorePointerOperand(&instruction);
          pointer != nullptr && is_small_array(*llvm::getUnderlyingObject(pointer), layout) &&
          !evolution.isLoopInvariant(evolution.getSCEV(const_cast<llvm::Value*>(pointer)), &loop))
        return true;
  return false;
}

std::uint64_t instructions_of(const llvm::Loop& loop) {
  std::uint64_t result = 0;
  for (const llvm::BasicBlock* const block : loop.blocks()) result += block->sizeWithoutDebug();
  return result;
}

}  // namespace

llvm::PreservedAnalyses UnrollForPrivateArrays::run(llvm::Loop& loop, llvm::LoopAnalysisManager& /*analyses*/,
                                                    llvm::LoopStandardAnalysisResults& results,
                                                    llvm::LPMUpdater& /*updater*/) {
  // The program's own wishes count.
  if (loop.isInnermost() && !llvm::hasUnrollTransformation(&loop) &&
      !llvm::hasDisableAllTransformsHint(&loop)) {
    const std::uint64_t iterations = results.SE.getSmallConstantTripCount(&loop);
    if (iterations > 1 && iterations * instructions_of(loop) <= kMostUnrolled &&
        indexes_small_array(loop, results.SE))
      llvm::addStringMetadataToLoop(&loop, "llvm.loop.unroll.full");
  }
  return llvm::PreservedAnalyses::all();
}

}  // namespace clique::daemon::compiler
