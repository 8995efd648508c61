#include "daemon/compiler/tool/frontend/describe_kernels.hpp"

#include <CL/cl.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

#include <algorithm>

#include "daemon/compiler/tool/common/address_spaces.hpp"
#include "daemon/compiler/tool/common/is_kernel.hpp"
#include "daemon/compiler/tool/frontend/kernel_attributes.hpp"

namespace clique::daemon::compiler {

namespace {

/// Element `index` of a metadata list that the front end attaches to a kernel; null if there is none.
const llvm::Metadata* note(const llvm::Function& kernel, const char* list, unsigned index) {
  const llvm::MDNode* const node = kernel.getMetadata(list);
  return node != nullptr && index < node->getNumOperands() ? node->getOperand(index).get() : nullptr;
}

std::string text_of(const llvm::Function& kernel, const char* list, unsigned index) {
  const auto* const text = llvm::dyn_cast_or_null<llvm::MDString>(note(kernel, list, index));
  return text == nullptr ? std::string() : text->getString().str();
}

std::uint32_t number_of(const llvm::Function& kernel, const char* list, unsigned index) {
  const auto* const number = llvm::mdconst::dyn_extract_or_null<llvm::ConstantInt>(note(kernel, list, index));
  return number == nullptr ? 0 : static_cast<std::uint32_t>(number->getZExtValue());
}

std::uint32_t address_qualifier(unsigned space) {
  switch (space) {
    case kSpirGlobal:
      return CL_KERNEL_ARG_ADDRESS_GLOBAL;
    case kSpirConstant:
      return CL_KERNEL_ARG_ADDRESS_CONSTANT;
    case kSpirLocal:
      return CL_KERNEL_ARG_ADDRESS_LOCAL;
    default:
      return CL_KERNEL_ARG_ADDRESS_PRIVATE;
  }
}

std::uint32_t access_qualifier(llvm::StringRef text) {
  if (text == "read_only") return CL_KERNEL_ARG_ACCESS_READ_ONLY;
  if (text == "write_only") return CL_KERNEL_ARG_ACCESS_WRITE_ONLY;
  if (text == "read_write") return CL_KERNEL_ARG_ACCESS_READ_WRITE;
  return CL_KERNEL_ARG_ACCESS_NONE;
}

std::uint64_t type_qualifier(llvm::StringRef text) {
  std::uint64_t qualifier = CL_KERNEL_ARG_TYPE_NONE;
  llvm::SmallVector<llvm::StringRef, 4> words;
  text.split(words, ' ', -1, /*KeepEmpty=*/false);
  for (const llvm::StringRef word : words) {
    if (word == "const") qualifier |= CL_KERNEL_ARG_TYPE_CONST;
    if (word == "restrict") qualifier |= CL_KERNEL_ARG_TYPE_RESTRICT;
    if (word == "volatile") qualifier |= CL_KERNEL_ARG_TYPE_VOLATILE;
    if (word == "pipe") qualifier |= CL_KERNEL_ARG_TYPE_PIPE;
  }
  return qualifier;
}

ArgKind kind_of(const llvm::Argument& argument, llvm::StringRef base_type, unsigned space) {
  if (base_type == "sampler_t") return ArgKind::Sampler;
  if (base_type.starts_with("image") && base_type.ends_with("_t")) return ArgKind::Image;
  if (argument.hasByValAttr() || !argument.getType()->isPointerTy()) return ArgKind::Value;
  switch (space) {
    case kSpirLocal:
      return ArgKind::Local;
    case kSpirConstant:
      return ArgKind::Constant;
    default:
      return ArgKind::Global;
  }
}

Arg describe(const llvm::Argument& argument) {
  const llvm::Function& kernel = *argument.getParent();
  const llvm::DataLayout& layout = kernel.getParent()->getDataLayout();
  const unsigned index = argument.getArgNo();
  const unsigned space = number_of(kernel, "kernel_arg_addr_space", index);

  Arg arg;
  arg.kind = kind_of(argument, text_of(kernel, "kernel_arg_base_type", index), space);
  arg.description.address = address_qualifier(space);
  arg.description.access = access_qualifier(text_of(kernel, "kernel_arg_access_qual", index));
  arg.description.type = text_of(kernel, "kernel_arg_type", index);
  arg.description.qualifier = type_qualifier(text_of(kernel, "kernel_arg_type_qual", index));
  arg.description.name = text_of(kernel, "kernel_arg_name", index);
  llvm::Type* const type = argument.hasByValAttr() ? argument.getParamByValType() : argument.getType();
  if (arg.kind == ArgKind::Value) arg.description.size = layout.getTypeAllocSize(type);

  // Programs may access local memory as wider vectors than the argument's type.
  if (arg.kind == ArgKind::Local)
    arg.alignment = std::max<std::uint32_t>(
        16, static_cast<std::uint32_t>(argument.getParamAlign().valueOrOne().value()));
  return arg;
}

}  // namespace

std::vector<Kernel> describe_kernels(const llvm::Module& module) {
  std::vector<Kernel> kernels;
  for (const llvm::Function& function : module) {
    if (!is_kernel(function) || function.isDeclaration()) continue;
    Kernel kernel;
    kernel.name = function.getName().str();
    kernel.attributes = attributes_of(function);
    for (const llvm::Argument& argument : function.args()) kernel.args.push_back(describe(argument));
    for (unsigned i = 0; i < 3; ++i)
      kernel.required_group[i] = number_of(function, "reqd_work_group_size", i);
    kernel.required_sub_group = number_of(function, "intel_reqd_sub_group_size", 0);
    kernel.uniform_groups = function.getFnAttribute("uniform-work-group-size").getValueAsString() == "true";
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

std::uint64_t size_of_global_variables(const llvm::Module& module) {
  std::uint64_t size = 0;
  for (const llvm::GlobalVariable& variable : module.globals())
    if (variable.getAddressSpace() == kGlobalSpace && !variable.isConstant() && !variable.isDeclaration())
      size += module.getDataLayout().getTypeAllocSize(variable.getValueType());
  return size;
}

}  // namespace clique::daemon::compiler
