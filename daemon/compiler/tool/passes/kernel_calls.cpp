#include "daemon/compiler/tool/passes/kernel_calls.hpp"

#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <vector>

#include "daemon/compiler/tool/common/is_kernel.hpp"

namespace clique::daemon::compiler {

namespace {

std::vector<llvm::CallBase*> calls_of(llvm::Function& function) {
  std::vector<llvm::CallBase*> calls;
  for (llvm::User* const user : function.users())
    if (auto* const call = llvm::dyn_cast<llvm::CallBase>(user);
        call && call->getCalledOperand() == &function)
      calls.push_back(call);
  return calls;
}

void separate(llvm::Function& kernel) {
  // If a kernel calls itself, the clone contains such a call, too. find_recursion() reports it later.
  llvm::ValueToValueMapTy map;
  llvm::Function* const body = llvm::CloneFunction(&kernel, map);
  body->setName(kernel.getName() + ".body");
  body->setLinkage(llvm::GlobalValue::InternalLinkage);
  body->setCallingConv(llvm::CallingConv::C);
  body->removeFnAttr(llvm::Attribute::NoInline);
  for (llvm::CallBase* const call : calls_of(kernel)) {
    call->setCalledFunction(body);
    call->setCallingConv(llvm::CallingConv::C);
  }
}

}  // namespace

void separate_called_kernels(llvm::Module& module) {
  std::vector<llvm::Function*> called;
  for (llvm::Function& function : module)
    if (is_kernel(function) && !function.isDeclaration() && !calls_of(function).empty())
      called.push_back(&function);
  for (llvm::Function* const kernel : called) separate(*kernel);
}

}  // namespace clique::daemon::compiler
