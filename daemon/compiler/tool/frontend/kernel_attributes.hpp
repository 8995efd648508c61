// CL_KERNEL_ATTRIBUTES: what programs write in __attribute__((…)) of kernels, in their order.
#pragma once

#include <map>
#include <memory>
#include <string>

namespace clang {
class ASTConsumer;
}
namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace clique::daemon::compiler {

/// By kernel; attributes with a space between them.
using KernelAttributes = std::map<std::string, std::string>;

/// Collects them while a program is parsed. `attributes` has to outlive it.
std::unique_ptr<clang::ASTConsumer> make_attribute_collector(KernelAttributes& attributes);

/// Keeps them with the module's kernels, so that compiled objects have them.
void attach_attributes(llvm::Module& module, const KernelAttributes& attributes);

std::string attributes_of(const llvm::Function& kernel);

}  // namespace clique::daemon::compiler
