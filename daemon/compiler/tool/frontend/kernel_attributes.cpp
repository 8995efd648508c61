#include "daemon/compiler/tool/frontend/kernel_attributes.hpp"

#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/Decl.h>
#include <clang/AST/DeclGroup.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Metadata.h>
#include <llvm/IR/Module.h>

namespace clique::daemon::compiler {

namespace {

constexpr const char* kMetadata = "clique.kernel_attributes";

/// "reqd_work_group_size(8,1,1)" for " __attribute__((reqd_work_group_size(8, 1, 1)))"; empty for attributes
/// in another notation.
std::string shortened(llvm::StringRef text) {
  text = text.trim();
  if (!text.consume_front("__attribute__((") || !text.consume_back("))")) return {};
  std::string result;
  for (const char c : text)
    if (c != ' ' || result.empty() || result.back() != ',') result += c;
  return result;
}

class Collector : public clang::ASTConsumer {
 public:
  explicit Collector(KernelAttributes& attributes) : attributes_(attributes) {}

  bool HandleTopLevelDecl(clang::DeclGroupRef group) override {
    for (const clang::Decl* const declaration : group)
      if (const auto* const function = llvm::dyn_cast<clang::FunctionDecl>(declaration))
        if (function->hasAttr<clang::OpenCLKernelAttr>()) collect(*function);
    return true;
  }

 private:
  void collect(const clang::FunctionDecl& kernel) {
    std::string all;
    for (const clang::Attr* const attribute : kernel.attrs()) {
      if (attribute->isImplicit()) continue;
      std::string text;
      llvm::raw_string_ostream stream(text);
      attribute->printPretty(stream, kernel.getASTContext().getPrintingPolicy());
      const std::string short_text = shortened(text);
      if (!all.empty() && !short_text.empty()) all += ' ';
      all += short_text;
    }
    attributes_[kernel.getName().str()] = all;
  }

  KernelAttributes& attributes_;
};

}  // namespace

std::unique_ptr<clang::ASTConsumer> make_attribute_collector(KernelAttributes& attributes) {
  return std::make_unique<Collector>(attributes);
}

void attach_attributes(llvm::Module& module, const KernelAttributes& attributes) {
  llvm::LLVMContext& context = module.getContext();
  for (const auto& [name, text] : attributes)
    if (llvm::Function* const kernel = module.getFunction(name))
      kernel->setMetadata(kMetadata, llvm::MDNode::get(context, llvm::MDString::get(context, text)));
}

std::string attributes_of(const llvm::Function& kernel) {
  const llvm::MDNode* const node = kernel.getMetadata(kMetadata);
  return node == nullptr ? std::string() : llvm::cast<llvm::MDString>(node->getOperand(0))->getString().str();
}

}  // namespace clique::daemon::compiler
