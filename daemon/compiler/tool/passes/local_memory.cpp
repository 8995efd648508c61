#include "daemon/compiler/tool/passes/local_memory.hpp"

#include <llvm/ADT/MapVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/ReplaceConstant.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "daemon/compiler/tool/common/address_spaces.hpp"
#include "daemon/compiler/tool/passes/parameters.hpp"
#include "daemon/compiler/tool/passes/variables.hpp"

namespace clique::daemon::compiler {

namespace {

/// In bytes, of a kernel's `.shared` variables.
constexpr std::uint64_t kStaticLimit = 48 * 1024;

using Variables = std::vector<llvm::GlobalVariable*>;

std::uint64_t alignment_of(const llvm::GlobalVariable& variable) {
  return variable.getAlign().valueOrOne().value();
}

std::uint64_t add_to(std::uint64_t end, const llvm::GlobalVariable& variable) {
  const std::uint64_t alignment = alignment_of(variable);
  return (end + alignment - 1) / alignment * alignment + size_of(variable);
}

std::uint64_t size_of(const Variables& variables) {
  std::uint64_t end = 0;
  for (const llvm::GlobalVariable* const variable : variables) end = add_to(end, *variable);
  return end;
}

/// The functions that use a variable, directly or through constant expressions.
std::set<llvm::Function*> users_of(llvm::GlobalVariable& variable) {
  std::set<llvm::Function*> functions;
  std::vector<llvm::User*> users(variable.user_begin(), variable.user_end());
  while (!users.empty()) {
    llvm::User* const user = users.back();
    users.pop_back();
    if (auto* const instruction = llvm::dyn_cast<llvm::Instruction>(user)) {
      functions.insert(instruction->getFunction());
    } else {
      users.insert(users.end(), user->user_begin(), user->user_end());
    }
  }
  return functions;
}

/// A kernel and the functions that it calls, directly or indirectly.
std::set<llvm::Function*> reached_from(llvm::Function& kernel) {
  std::set<llvm::Function*> reached{&kernel};
  std::vector<llvm::Function*> open{&kernel};
  while (!open.empty()) {
    llvm::Function* const function = open.back();
    open.pop_back();
    for (llvm::Instruction& instruction : llvm::instructions(*function))
      if (const auto* const call = llvm::dyn_cast<llvm::CallBase>(&instruction))
        if (llvm::Function* const called = call->getCalledFunction(); called && reached.insert(called).second)
          open.push_back(called);
  }
  return reached;
}

/// Makes `kernel` use the launch's dynamic shared memory at `offset` instead of the variable.
void move(llvm::GlobalVariable& variable, llvm::Function& kernel, std::uint64_t offset) {
  llvm::LLVMContext& context = kernel.getContext();
  llvm::Constant* const place = llvm::ConstantExpr::getInBoundsGetElementPtr(
      llvm::Type::getInt8Ty(context), &dynamic_local_memory(*kernel.getParent()),
      llvm::ArrayRef<llvm::Constant*>(llvm::ConstantInt::get(llvm::Type::getInt64Ty(context), offset)));
  llvm::convertUsersOfConstantsToInstructions({&variable}, &kernel);
  variable.replaceUsesWithIf(place, [&](const llvm::Use& use) {
    const auto* const instruction = llvm::dyn_cast<llvm::Instruction>(use.getUser());
    return instruction != nullptr && instruction->getFunction() == &kernel;
  });
  variable.removeDeadConstantUsers();
  if (variable.use_empty()) variable.eraseFromParent();
}

}  // namespace

void place_local_variables(llvm::Module& module, std::vector<Kernel>& kernels) {
  llvm::MapVector<llvm::GlobalVariable*, std::set<llvm::Function*>> variables;
  for (llvm::GlobalVariable& variable : module.globals())
    if (variable.getAddressSpace() == kSharedSpace && variable.hasInitializer())
      variables[&variable] = users_of(variable);

  for (Kernel& kernel : kernels) {
    llvm::Function& function = *module.getFunction(kernel.name);
    const auto reached = reached_from(function);
    Variables fixed;
    Variables movable;
    for (const auto& [variable, users] : variables) {
      const auto uses_it = [&users = users](llvm::Function* user) { return users.contains(user); };
      if (std::none_of(reached.begin(), reached.end(), uses_it)) continue;
      const auto of_this = std::count_if(reached.begin(), reached.end(), uses_it);
      (of_this == 1 && users.contains(&function) ? movable : fixed).push_back(variable);
    }
    // The largest first. Equal sizes are ordered by name, so that the same program always gives the same
    // code.
    std::stable_sort(movable.begin(), movable.end(), [](const auto* a, const auto* b) {
      return std::pair(size_of(*a), b->getName()) > std::pair(size_of(*b), a->getName());
    });
    Variables moved;
    while (size_of(fixed) + size_of(movable) > kStaticLimit && !movable.empty()) {
      moved.push_back(movable.front());
      movable.erase(movable.begin());
    }
    if (size_of(fixed) > kStaticLimit)
      throw std::runtime_error(
          "kernel '" + kernel.name + "' has " + std::to_string(size_of(fixed)) +
          " bytes of __local variables in functions that could not be inlined; the limit is " +
          std::to_string(kStaticLimit) + " bytes");
    kernel.static_local_size = static_cast<std::uint32_t>(size_of(fixed) + size_of(movable));
    std::uint64_t end = 0;
    for (llvm::GlobalVariable* const variable : moved) {
      end = add_to(end, *variable);
      const std::uint64_t begin = end - size_of(*variable);
      auto& users = variables[variable];
      users.erase(&function);
      if (users.empty()) variables.erase(variable);
      move(*variable, function, begin);
    }
    kernel.local_size = static_cast<std::uint32_t>(end);
  }
}

}  // namespace clique::daemon::compiler
