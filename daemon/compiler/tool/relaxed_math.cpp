#include "daemon/compiler/tool/relaxed_math.hpp"

#include <llvm/ADT/StringRef.h>
#include <llvm/IR/Module.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace clique::daemon::compiler {

namespace {

constexpr std::array kRelaxed{"sin", "cos", "tan", "exp", "exp2", "exp10", "log", "log2", "log10", "powr"};

/// True for the parameters of functions of float and of vectors of float, as names are mangled.
bool of_float(llvm::StringRef parameters) {
  if (parameters.consume_front("Dv")) {
    while (!parameters.empty() && parameters.front() >= '0' && parameters.front() <= '9')
      parameters = parameters.drop_front();
    return parameters == "_f" || parameters == "_fS_";
  }
  return parameters == "f" || parameters == "ff";
}

/// "_Z10native_sinf" of "_Z3sinf"; empty where there is none.
std::string native_of(llvm::StringRef name) {
  for (const llvm::StringRef function : kRelaxed) {
    llvm::StringRef parameters = name;
    if (!parameters.consume_front("_Z" + std::to_string(function.size()) + function.str())) continue;
    if (!of_float(parameters)) continue;
    const std::string native = "native_" + function.str();
    return "_Z" + std::to_string(native.size()) + native + parameters.str();
  }
  return {};
}

}  // namespace

void use_native_functions(llvm::Module& module) {
  std::vector<std::pair<llvm::Function*, std::string>> found;
  for (llvm::Function& function : module)
    if (function.isDeclaration())
      if (std::string native = native_of(function.getName()); !native.empty())
        found.emplace_back(&function, std::move(native));
  for (const auto& [function, native] : found) {
    if (llvm::Function* const known = module.getFunction(native)) {
      function->replaceAllUsesWith(known);
    } else {
      function->setName(native);
    }
  }
}

}  // namespace clique::daemon::compiler
