#include "daemon/compiler/tool/passes/check_program.hpp"

#include <llvm/ADT/SCCIterator.h>
#include <llvm/Analysis/CallGraph.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Module.h>

#include <algorithm>

#include "daemon/compiler/tool/common/address_spaces.hpp"
#include "daemon/compiler/tool/passes/hidden_values.hpp"

namespace clique::daemon::compiler {

namespace {

/// Bytes of parameters that PTX before version 8.1 allows.
constexpr std::uint32_t kLargestParameters = 4352;
/// Work-items of a sub-group, which is a warp.
constexpr std::uint32_t kSubGroup = 32;

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

std::string find_impossible(const std::vector<Kernel>& kernels) {
  std::string messages;
  const auto add = [&](const Kernel& kernel, const std::string& why) {
    messages += "error: kernel '";
    messages += kernel.name + "' " + why + "\n";
  };
  for (const Kernel& kernel : kernels) {
    if (kernel.params_size > kLargestParameters)
      add(kernel, "has " + std::to_string(kernel.params_size) + " bytes of arguments; the limit is " +
                      std::to_string(kLargestParameters) + " bytes");
    if (kernel.required_sub_group != 0 && kernel.required_sub_group != kSubGroup)
      add(kernel, "requires sub-groups of " + std::to_string(kernel.required_sub_group) +
                      " work-items; this device has sub-groups of " + std::to_string(kSubGroup));
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
