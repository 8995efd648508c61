#include "daemon/compiler/tool/passes/guarded_loads.hpp"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <algorithm>
#include <string>
#include <vector>

namespace clique::daemon::compiler {

namespace {

/// LLVM's number of the address space of global memory.
constexpr unsigned kGlobal = 1;
/// The most instructions beside loads and addresses that may run although the condition is false.
constexpr unsigned kMostOthers = 8;

bool is_maskable(const llvm::LoadInst& load) {
  const llvm::Type* const type = load.getType();
  const bool number =
      type->isFloatTy() || type->isDoubleTy() || type->isIntegerTy(32) || type->isIntegerTy(64);
  // PTX loads numbers from multiples of their sizes only.
  return number && load.isSimple() && load.getPointerAddressSpace() == kGlobal &&
         load.getAlign().value() * 8 >= type->getPrimitiveSizeInBits();
}

/// Whether the block consists of loads that can be masked and of what may run before the branch to it.
bool is_maskable(const llvm::BasicBlock& block) {
  unsigned loads = 0;
  unsigned others = 0;
  for (const llvm::Instruction& instruction : block) {
    if (instruction.isTerminator()) break;
    if (const auto* const load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
      if (!is_maskable(*load)) return false;
      ++loads;
    } else if (llvm::isa<llvm::PHINode>(instruction) || instruction.getType()->isTokenTy() ||
               instruction.mayReadOrWriteMemory() || !llvm::isSafeToSpeculativelyExecute(&instruction)) {
      return false;
    } else if (!llvm::isa<llvm::GetElementPtrInst>(instruction) && !llvm::isa<llvm::CastInst>(instruction)) {
      ++others;
    }
  }
  return loads != 0 && others <= kMostOthers;
}

/// The value that the load's only use, a phi of `end`, has where the load does not run; null if there is
/// none.
llvm::Value* value_otherwise(const llvm::LoadInst& load, const llvm::BasicBlock* before,
                             const llvm::BasicBlock* end) {
  if (!load.hasOneUse()) return nullptr;
  const auto* const phi = llvm::dyn_cast<llvm::PHINode>(load.user_back());
  return phi != nullptr && phi->getParent() == end ? phi->getIncomingValueForBlock(before) : nullptr;
}

/// A branch that may skip a block of loads.
struct Guard {
  llvm::BranchInst* branch = nullptr;
  llvm::BasicBlock* loads = nullptr;
  llvm::BasicBlock* end = nullptr;
  bool runs_if = false;  ///< the condition under which `loads` runs
};

bool find_guard(llvm::BasicBlock& block, Guard& guard) {
  auto* const branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
  if (branch == nullptr || !branch->isConditional()) return false;
  for (const unsigned side : {0U, 1U}) {
    llvm::BasicBlock* const loads = branch->getSuccessor(side);
    llvm::BasicBlock* const end = branch->getSuccessor(1 - side);
    if (loads == end || loads == &block || end == &block || loads->getSinglePredecessor() != &block) continue;
    const auto* const jump = llvm::dyn_cast<llvm::BranchInst>(loads->getTerminator());
    if (jump == nullptr || jump->isConditional() || jump->getSuccessor(0) != end) continue;
    if (!is_maskable(*loads)) continue;
    guard = {branch, loads, end, side == 0};
    return true;
  }
  return false;
}

/// @returns the masked load's element. @param otherwise null for any value.
llvm::Value* mask(llvm::LoadInst& load, llvm::Value* condition, llvm::Value* otherwise) {
  llvm::IRBuilder<> builder(&load);
  auto* const vector = llvm::FixedVectorType::get(load.getType(), 1);
  const auto of_one = [&](llvm::Value* value, llvm::Type* type) {
    return builder.CreateInsertElement(llvm::PoisonValue::get(llvm::FixedVectorType::get(type, 1)), value,
                                       std::uint64_t{0});
  };
  llvm::CallInst* const masked = builder.CreateMaskedLoad(
      vector, load.getPointerOperand(), load.getAlign(), of_one(condition, builder.getInt1Ty()),
      of_one(otherwise != nullptr ? otherwise : llvm::Constant::getNullValue(load.getType()),
             load.getType()));
  masked->setAAMetadata(load.getAAMetadata());
  llvm::Value* const element = builder.CreateExtractElement(masked, std::uint64_t{0});
  load.replaceAllUsesWith(element);
  load.eraseFromParent();
  return element;
}

/// Moves the loads, masked, before the branch, and makes it unconditional.
void remove_branch(const Guard& guard) {
  llvm::BasicBlock* const before = guard.branch->getParent();
  llvm::Value* const condition = guard.branch->getCondition();
  llvm::IRBuilder<> builder(guard.branch);
  llvm::Value* const runs = guard.runs_if ? condition : builder.CreateNot(condition);
  std::vector<llvm::Value*> complete;  // with the value for either case
  while (!guard.loads->front().isTerminator()) {
    llvm::Instruction& moved = guard.loads->front();
    moved.moveBefore(guard.branch);
    moved.dropUBImplyingAttrsAndMetadata();
    auto* const load = llvm::dyn_cast<llvm::LoadInst>(&moved);
    if (load == nullptr) continue;
    llvm::Value* const otherwise = value_otherwise(*load, before, guard.end);
    llvm::Value* const masked = mask(*load, runs, otherwise);
    if (otherwise != nullptr) complete.push_back(masked);
  }
  for (llvm::PHINode& phi : guard.end->phis()) {
    llvm::Value* const loaded = phi.getIncomingValueForBlock(guard.loads);
    llvm::Value* const otherwise = phi.getIncomingValueForBlock(before);
    const bool whole = std::find(complete.begin(), complete.end(), loaded) != complete.end();
    phi.setIncomingValueForBlock(before, whole ? loaded : builder.CreateSelect(runs, loaded, otherwise));
  }
  guard.end->removePredecessor(guard.loads, /*KeepOneInputPHIs=*/true);
  builder.CreateBr(guard.end);
  guard.branch->eraseFromParent();
  guard.loads->getTerminator()->eraseFromParent();
  guard.loads->eraseFromParent();
}

/// Whether nothing writes to the memory while the kernel runs, so that it may be read through the read-only
/// cache.
bool is_constant(const llvm::Value* pointer) {
  const auto* const argument = llvm::dyn_cast<llvm::Argument>(llvm::getUnderlyingObject(pointer, 0));
  return argument != nullptr && argument->hasNoAliasAttr() && argument->onlyReadsMemory() &&
         argument->getParent()->getCallingConv() == llvm::CallingConv::PTX_Kernel;
}

void predicate(llvm::IntrinsicInst& masked) {
  llvm::IRBuilder<> builder(&masked);
  llvm::Type* const type = llvm::cast<llvm::FixedVectorType>(masked.getType())->getElementType();
  const auto& layout = masked.getModule()->getDataLayout();
  llvm::APInt offset(64, 0);
  llvm::Value* const pointer =
      masked.getArgOperand(0)->stripAndAccumulateConstantOffsets(layout, offset, /*AllowNonInbounds=*/true);
  const bool near = offset.isSignedIntN(32);
  llvm::Value* const address = near ? pointer : masked.getArgOperand(0);
  llvm::Value* const runs = builder.CreateExtractElement(masked.getArgOperand(2), std::uint64_t{0});
  llvm::Value* const otherwise = builder.CreateExtractElement(masked.getArgOperand(3), std::uint64_t{0});
  const std::string number = type->isFloatTy()       ? "f"
                             : type->isDoubleTy()    ? "d"
                             : type->isIntegerTy(32) ? "r"
                                                     : "l";
  const std::string text = std::string("@$2 ld.global") + (is_constant(address) ? ".nc" : "") + ".b" +
                           std::to_string(type->getPrimitiveSizeInBits().getFixedValue()) + " $0, [$1+" +
                           std::to_string(near ? offset.getSExtValue() : 0) + "];";
  auto* const function =
      llvm::FunctionType::get(type, {address->getType(), runs->getType(), type}, /*isVarArg=*/false);
  // With side effects, because LLVM does not order other instructions of assembly with stores.
  auto* const instruction =
      llvm::InlineAsm::get(function, text, "=" + number + ",l,b,0", /*hasSideEffects=*/true);
  llvm::CallInst* const call = builder.CreateCall(function, instruction, {address, runs, otherwise});
  call->setOnlyReadsMemory();
  call->setDoesNotThrow();
  masked.replaceAllUsesWith(builder.CreateInsertElement(masked.getArgOperand(3), call, std::uint64_t{0}));
  masked.eraseFromParent();
}

bool is_of_one_element(const llvm::IntrinsicInst& intrinsic) {
  const auto* const type = llvm::dyn_cast<llvm::FixedVectorType>(intrinsic.getType());
  return intrinsic.getIntrinsicID() == llvm::Intrinsic::masked_load && type != nullptr &&
         type->getNumElements() == 1;
}

}  // namespace

llvm::PreservedAnalyses MaskGuardedLoads::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
  // None of these vanishes meanwhile: blocks of loads end with unconditional branches.
  std::vector<llvm::BasicBlock*> guards;
  for (llvm::BasicBlock& block : function)
    if (Guard guard; find_guard(block, guard)) guards.push_back(&block);
  bool changed = false;
  for (llvm::BasicBlock* const block : guards) {
    Guard guard;
    if (!find_guard(*block, guard)) continue;
    remove_branch(guard);
    changed = true;
  }
  return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

void predicate_masked_loads(llvm::Module& module) {
  std::vector<llvm::IntrinsicInst*> found;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* const intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
          intrinsic != nullptr && is_of_one_element(*intrinsic))
        found.push_back(intrinsic);
  for (llvm::IntrinsicInst* const masked : found) predicate(*masked);
}

}  // namespace clique::daemon::compiler
