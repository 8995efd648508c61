#include "daemon/compiler/tool/passes/byte_pairs.hpp"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Attributes.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

namespace clique::daemon::compiler {

namespace {

bool is_byte_pair(const llvm::Type* type) {
  const auto* const vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector != nullptr && vector->getNumElements() == 2 && vector->getElementType()->isIntegerTy(8);
}

llvm::Type* passed(llvm::Type* type) {
  return is_byte_pair(type) ? llvm::Type::getInt16Ty(type->getContext()) : type;
}

/// Converts a char2 to the 16-bit integer that is passed for it; unpack() does the reverse. LLVM would
/// implement a bitcast through memory.
llvm::Value* pack(llvm::Value* value, llvm::IRBuilder<>& builder) {
  if (!is_byte_pair(value->getType())) return value;
  llvm::Value* const low =
      builder.CreateZExt(builder.CreateExtractElement(value, std::uint64_t{0}), builder.getInt16Ty());
  llvm::Value* const high = builder.CreateZExt(builder.CreateExtractElement(value, 1), builder.getInt16Ty());
  return builder.CreateOr(low, builder.CreateShl(high, 8));
}

llvm::Value* unpack(llvm::Value* value, llvm::Type* type, llvm::IRBuilder<>& builder) {
  if (!is_byte_pair(type)) return value;
  llvm::Value* const low = builder.CreateTrunc(value, builder.getInt8Ty());
  llvm::Value* const high = builder.CreateTrunc(builder.CreateLShr(value, 8), builder.getInt8Ty());
  llvm::Value* const first = builder.CreateInsertElement(llvm::PoisonValue::get(type), low, std::uint64_t{0});
  return builder.CreateInsertElement(first, high, 1);
}

/// The attributes without those that only apply to vectors.
llvm::AttributeList passed(const llvm::AttributeList& attributes, const llvm::FunctionType& type) {
  llvm::AttributeList kept = attributes;
  if (is_byte_pair(type.getReturnType()))
    kept = kept.removeAttributesAtIndex(type.getContext(), llvm::AttributeList::ReturnIndex);
  for (unsigned i = 0; i < type.getNumParams(); ++i)
    if (is_byte_pair(type.getParamType(i)))
      kept = kept.removeAttributesAtIndex(type.getContext(), i + llvm::AttributeList::FirstArgIndex);
  return kept;
}

bool concerns(const llvm::Function& function) {
  return !function.isDeclaration() && (is_byte_pair(function.getReturnType()) ||
                                       llvm::any_of(function.args(), [](const llvm::Argument& argument) {
                                         return is_byte_pair(argument.getType());
                                       }));
}

llvm::Function& with_numbers(llvm::Function& old) {
  llvm::SmallVector<llvm::Type*, 8> types;
  for (const llvm::Argument& argument : old.args()) types.push_back(passed(argument.getType()));
  auto* const made =
      llvm::Function::Create(llvm::FunctionType::get(passed(old.getReturnType()), types, false),
                             old.getLinkage(), "", old.getParent());
  made->copyAttributesFrom(&old);
  made->setAttributes(passed(old.getAttributes(), *old.getFunctionType()));
  made->copyMetadata(&old, 0);
  made->takeName(&old);
  made->splice(made->begin(), &old);
  llvm::IRBuilder<> builder(&*made->getEntryBlock().getFirstInsertionPt());
  for (auto [from, to] : llvm::zip(old.args(), made->args())) {
    to.takeName(&from);
    from.replaceAllUsesWith(unpack(&to, from.getType(), builder));
  }
  if (!is_byte_pair(old.getReturnType())) return *made;
  for (llvm::BasicBlock& block : *made)
    if (auto* const end = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator())) {
      builder.SetInsertPoint(end);
      end->setOperand(0, pack(end->getReturnValue(), builder));
    }
  return *made;
}

void call_instead(llvm::CallInst& call, llvm::Function& function) {
  llvm::IRBuilder<> builder(&call);
  llvm::SmallVector<llvm::Value*, 8> arguments;
  for (llvm::Value* const argument : call.args()) arguments.push_back(pack(argument, builder));
  llvm::CallInst* const made = builder.CreateCall(&function, arguments);
  made->setCallingConv(call.getCallingConv());
  made->setAttributes(passed(call.getAttributes(), *call.getFunctionType()));
  call.replaceAllUsesWith(unpack(made, call.getType(), builder));
  call.eraseFromParent();
}

}  // namespace

void pass_byte_pairs_as_numbers(llvm::Module& module) {
  for (llvm::Function& function : llvm::make_early_inc_range(module)) {
    if (!concerns(function)) continue;
    llvm::Function& made = with_numbers(function);
    for (llvm::User* const user : llvm::make_early_inc_range(function.users()))
      if (auto* const call = llvm::dyn_cast<llvm::CallInst>(user);
          call && call->getCalledOperand() == &function)
        call_instead(*call, made);
    // Remaining uses are metadata about the function.
    function.replaceAllUsesWith(&made);
    function.eraseFromParent();
  }
}

}  // namespace clique::daemon::compiler
