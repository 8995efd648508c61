// CL_KERNEL_ATTRIBUTES: the attributes that a program gives its kernels in __attribute__((…)), in source
// order.
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

/// The attributes of each kernel, by its name, separated by spaces.
using KernelAttributes = std::map<std::string, std::string>;

/// Collects the attributes of all kernels while Clang parses a program. `attributes` must outlive the
/// consumer.
std::unique_ptr<clang::ASTConsumer> make_attribute_collector(KernelAttributes& attributes);

/// Stores the attributes in the module's kernels, so that compiled objects keep them.
void attach_attributes(llvm::Module& module, const KernelAttributes& attributes);

/// The attributes that attach_attributes() stored; empty if there are none.
std::string attributes_of(const llvm::Function& kernel);

}  // namespace clique::daemon::compiler
