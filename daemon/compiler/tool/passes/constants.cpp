#include "daemon/compiler/tool/passes/constants.hpp"

#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

#include <algorithm>
#include <vector>

#include "daemon/compiler/tool/common/address_spaces.hpp"
#include "daemon/compiler/tool/passes/variables.hpp"

namespace clique::daemon::compiler {

namespace {

/// In bytes. The bank has 64 KiB; the rest is for what ptxas puts there.
constexpr std::uint64_t kBudget = 60 * 1024;

/// Whether the address is only used for loads, possibly with an offset, in which all work-items of a warp
/// read the same element: the bank delivers one word at a time.
bool only_loaded_together(llvm::Value& address, UniformityOf uniformity_of) {
  return std::all_of(address.user_begin(), address.user_end(), [&](llvm::User* user) {
    if (auto* const load = llvm::dyn_cast<llvm::LoadInst>(user))
      return !uniformity_of(*load->getFunction()).isDivergent(&address);
    auto* const offset = llvm::dyn_cast<llvm::GEPOperator>(user);
    return offset != nullptr && offset->getPointerOperand() == &address && !offset->getType()->isVectorTy() &&
           only_loaded_together(*offset, uniformity_of);
  });
}

/// Replaces `from` by `to` in loads and address computations. New instructions are created, since their
/// types change.
void replace_address(llvm::Value& from, llvm::Value& to) {
  const std::vector<llvm::User*> users(from.user_begin(), from.user_end());
  for (llvm::User* const user : users) {
    if (auto* const load = llvm::dyn_cast<llvm::LoadInst>(user)) {
      llvm::IRBuilder<> builder(load);
      auto* const made = builder.CreateAlignedLoad(load->getType(), &to, load->getAlign(), load->isVolatile(),
                                                   load->getName());
      made->copyMetadata(*load);
      load->replaceAllUsesWith(made);
      load->eraseFromParent();
    } else if (auto* const offset = llvm::dyn_cast<llvm::GetElementPtrInst>(user)) {
      llvm::IRBuilder<> builder(offset);
      const std::vector<llvm::Value*> indices(offset->idx_begin(), offset->idx_end());
      replace_address(*offset, *builder.CreateGEP(offset->getSourceElementType(), &to, indices,
                                                  offset->getName(), offset->getNoWrapFlags()));
      offset->eraseFromParent();
    } else {
      auto* const constant = llvm::cast<llvm::GEPOperator>(user);
      std::vector<llvm::Constant*> indices;
      for (const llvm::Use& index : constant->indices()) indices.push_back(llvm::cast<llvm::Constant>(index));
      replace_address(*constant, *llvm::ConstantExpr::getGetElementPtr(
                                     constant->getSourceElementType(), llvm::cast<llvm::Constant>(&to),
                                     llvm::ArrayRef<llvm::Constant*>(indices), constant->getNoWrapFlags()));
    }
  }
}

void promote(llvm::GlobalVariable& variable) {
  auto* const made = new llvm::GlobalVariable(
      *variable.getParent(), variable.getValueType(), true, llvm::GlobalValue::InternalLinkage,
      variable.getInitializer(), "", &variable, llvm::GlobalValue::NotThreadLocal, kConstantSpace);
  made->takeName(&variable);
  made->setAlignment(variable.getAlign());
  replace_address(variable, *made);
  variable.removeDeadConstantUsers();
  variable.eraseFromParent();
}

}  // namespace

void promote_constants(llvm::Module& module, UniformityOf uniformity_of) {
  std::uint64_t used = 0;
  std::vector<llvm::GlobalVariable*> tables;
  for (llvm::GlobalVariable& variable : module.globals()) {
    if (!variable.hasInitializer() || !variable.isConstant()) continue;
    if (variable.getAddressSpace() == kConstantSpace) used += size_of(variable);
    variable.removeDeadConstantUsers();
    if (variable.getAddressSpace() == kGlobalSpace && !variable.use_empty() && variable.hasLocalLinkage() &&
        only_loaded_together(variable, uniformity_of))
      tables.push_back(&variable);
  }
  std::stable_sort(tables.begin(), tables.end(),
                   [](const auto* a, const auto* b) { return size_of(*a) < size_of(*b); });
  for (llvm::GlobalVariable* const table : tables) {
    const std::uint64_t alignment = table->getAlign().valueOrOne().value();
    const std::uint64_t end = (used + alignment - 1) / alignment * alignment + size_of(*table);
    if (end > kBudget) return;
    used = end;
    promote(*table);
  }
}

}  // namespace clique::daemon::compiler
