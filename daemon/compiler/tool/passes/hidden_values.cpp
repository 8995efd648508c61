#include "daemon/compiler/tool/passes/hidden_values.hpp"

#include <llvm/ADT/SetVector.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>

#include "daemon/compiler/tool/common/is_kernel.hpp"

namespace clique::daemon::compiler {

void inline_users_of_hidden_values(llvm::Module& module) {
  llvm::SetVector<llvm::Function*> users;
  const auto add_callers = [&](llvm::Function& called) {
    for (llvm::User* const user : called.users())
      if (auto* const call = llvm::dyn_cast<llvm::CallBase>(user); call && !is_kernel(*call->getFunction()))
        users.insert(call->getFunction());
  };
  for (const HiddenValue& value : kHiddenValues)
    if (llvm::Function* const function = module.getFunction(value.function)) add_callers(*function);
  // The loop appends to `users`. NOLINTNEXTLINE(modernize-loop-convert)
  for (std::size_t i = 0; i < users.size(); ++i) add_callers(*users[i]);
  for (llvm::Function* const function : users) {
    function->removeFnAttr(llvm::Attribute::NoInline);
    function->removeFnAttr(llvm::Attribute::OptimizeNone);
    function->addFnAttr(llvm::Attribute::AlwaysInline);
  }
}

}  // namespace clique::daemon::compiler
