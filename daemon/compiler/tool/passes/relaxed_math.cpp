#include "daemon/compiler/tool/passes/relaxed_math.hpp"

#include <llvm/ADT/StringRef.h>
#include <llvm/IR/Module.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace clique::daemon::compiler {

namespace {

constexpr std::array kRelaxed{"sin",   "cos", "tan",  "exp",    "exp2",   "exp10",    "log",      "log2",
                              "log10", "pow", "powr", "sincos", "length", "distance", "normalize"};

/// Whether the mangled parameters are those of a function of float or of vectors of float: one parameter, or
/// two of the same type, of which the second may be a pointer.
bool of_float(llvm::StringRef parameters) {
  llvm::StringRef second = "f";
  if (parameters.consume_front("Dv")) {
    parameters = parameters.ltrim("0123456789");
    if (!parameters.consume_front("_")) return false;
    second = "S_";
  }
  if (!parameters.consume_front("f")) return false;
  if (parameters.consume_front("P") && parameters.consume_front("U3AS")) parameters = parameters.drop_front();
  return parameters.empty() || parameters == second;
}

/// "_Z10native_sinf" for "_Z3sinf"; empty if the function has no native variant.
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
