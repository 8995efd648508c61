#include "daemon/compiler/tool/check_program.hpp"

#include <llvm/ADT/SCCIterator.h>
#include <llvm/Analysis/CallGraph.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Module.h>

#include <algorithm>

#include "daemon/compiler/tool/address_spaces.hpp"
#include "daemon/compiler/tool/hidden_values.hpp"

namespace clique::daemon::compiler {

namespace {

std::string readable(llvm::StringRef name) {
  return "'" + llvm::demangle(name.str()) + "'";
}

bool is_hidden_value(llvm::StringRef name) {
  return std::any_of(kHiddenValues.begin(), kHiddenValues.end(),
                     [&](const HiddenValue& value) { return name == value.function; });
}

}  // namespace

std::string find_recursion(llvm::Module& module) {
  llvm::CallGraph graph(module);
  std::string messages;
  for (auto component = llvm::scc_begin(&graph); !component.isAtEnd(); ++component) {
    if (!component.hasCycle()) continue;
    std::string names;
    for (const llvm::CallGraphNode* const node : *component)
      if (node->getFunction() != nullptr && !node->getFunction()->isDeclaration())
        names += (names.empty() ? "" : ", ") + readable(node->getFunction()->getName());
    if (!names.empty()) messages += "error: recursion is not allowed in OpenCL C: " + names + "\n";
  }
  return messages;
}

std::string find_undefined(const llvm::Module& module) {
  std::string messages;
  for (const llvm::GlobalValue& value : module.global_values()) {
    const llvm::StringRef name = value.getName();
    if (!value.isDeclaration() || value.use_empty() || name.starts_with("llvm.") || is_hidden_value(name))
      continue;
    if (value.getAddressSpace() == kSharedSpace) continue;
    const auto* const function = llvm::dyn_cast<llvm::Function>(&value);
    if (function != nullptr && name == "__nvvm_reflect") continue;
    messages += function != nullptr ? "error: undefined function " : "error: undefined variable ";
    messages += readable(name) + "\n";
  }
  return messages;
}

}  // namespace clique::daemon::compiler
