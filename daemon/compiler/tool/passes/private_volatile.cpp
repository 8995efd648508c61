#include "daemon/compiler/tool/passes/private_volatile.hpp"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <vector>

namespace clique::daemon::compiler {

namespace {

/// A move instruction that LLVM cannot see through; null if PTX has none for the type.
llvm::InlineAsm* opaque_move(llvm::Type& type) {
  const auto move = [&](const char* instruction, const char* constraints) {
    return llvm::InlineAsm::get(llvm::FunctionType::get(&type, {&type}, /*isVarArg=*/false), instruction,
                                constraints,
                                /*hasSideEffects=*/true);
  };
  if (type.isFloatTy()) return move("mov.f32 $0, $1;", "=f,f");
  if (type.isDoubleTy()) return move("mov.f64 $0, $1;", "=d,d");
  if (type.isIntegerTy(32)) return move("mov.u32 $0, $1;", "=r,r");
  if (type.isIntegerTy(64)) return move("mov.u64 $0, $1;", "=l,l");
  return nullptr;
}

/// Whether the access is volatile and to a private variable that holds one number.
template <typename Access>
bool is_private_volatile(const Access& access) {
  const auto* const variable =
      llvm::dyn_cast<llvm::AllocaInst>(llvm::getUnderlyingObject(access.getPointerOperand()));
  return access.isVolatile() && !access.isAtomic() && variable != nullptr &&
         opaque_move(*variable->getAllocatedType()) != nullptr;
}

void relax(llvm::LoadInst& load) {
  if (!is_private_volatile(load)) return;
  llvm::InlineAsm* const move = opaque_move(*load.getType());
  if (move == nullptr) return;
  load.setVolatile(false);
  llvm::IRBuilder<> builder(load.getNextNode());
  auto* const moved = builder.CreateCall(move, {&load});
  load.replaceUsesWithIf(moved, [&](const llvm::Use& use) { return use.getUser() != moved; });
}

}  // namespace

void relax_private_volatile(llvm::Module& module) {
  for (llvm::Function& function : module) {
    std::vector<llvm::LoadInst*> loads;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (auto* const load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) loads.push_back(load);
      auto* const store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
      if (store != nullptr && is_private_volatile(*store)) store->setVolatile(false);
    }
    for (llvm::LoadInst* const load : loads) relax(*load);
  }
}

}  // namespace clique::daemon::compiler
