#include "daemon/compiler/tool/passes/parameters.hpp"

#include <llvm/IR/AttributeMask.h>
#include <llvm/IR/Attributes.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "daemon/compiler/tool/common/address_spaces.hpp"
#include "daemon/compiler/tool/passes/hidden_values.hpp"

namespace clique::daemon::compiler {

namespace {

constexpr const char* kDynamicLocalMemory = "__clique_dynamic_local";

/// Lays out parameters as PTX does: each at the next multiple of its alignment.
class ParameterBlock {
 public:
  std::uint32_t add(std::uint64_t size, llvm::Align alignment) {
    const std::uint64_t offset = llvm::alignTo(size_, alignment);
    size_ = offset + size;
    return static_cast<std::uint32_t>(offset);
  }
  std::uint32_t size() const { return static_cast<std::uint32_t>(size_); }

 private:
  std::uint64_t size_ = 0;
};

/// The calls of one hidden value in a kernel.
struct HiddenUse {
  std::uint8_t what = 0;
  llvm::Type* type = nullptr;
  std::vector<llvm::CallInst*> calls;
};

std::vector<HiddenUse> hidden_uses(llvm::Function& kernel) {
  std::vector<HiddenUse> uses;
  for (const HiddenValue& value : kHiddenValues) {
    llvm::Function* const function = kernel.getParent()->getFunction(value.function);
    if (function == nullptr) continue;
    HiddenUse use{value.what, function->getReturnType(), {}};
    for (llvm::User* const user : function->users())
      if (auto* const call = llvm::dyn_cast<llvm::CallInst>(user); call && call->getFunction() == &kernel)
        use.calls.push_back(call);
    if (!use.calls.empty()) uses.push_back(std::move(use));
  }
  return uses;
}

/// Rewrites one kernel.
class Rewriting {
 public:
  Rewriting(llvm::Function& old, Kernel& kernel) : old_(old), kernel_(kernel), uses_(hidden_uses(old)) {}

  llvm::Function* run() {
    create();
    llvm::IRBuilder<> builder(&*new_->getEntryBlock().getFirstInsertionPt());
    for (unsigned i = 0; i < kernel_.args.size(); ++i) rewrite_argument(i, builder);
    rewrite_hidden();
    kernel_.params_size = block_.size();
    old_.replaceAllUsesWith(new_);
    old_.eraseFromParent();
    return new_;
  }

 private:
  /// Whether the launch passes a 32-bit number: an offset into shared memory, or a sampler.
  static bool is_number(const Arg& arg) { return arg.kind == ArgKind::Local || arg.kind == ArgKind::Sampler; }

  void create() {
    std::vector<llvm::Type*> types;
    for (const llvm::Argument& argument : old_.args())
      types.push_back(is_number(kernel_.args[argument.getArgNo()]) ? llvm::Type::getInt32Ty(old_.getContext())
                                                                   : argument.getType());
    for (const HiddenUse& use : uses_) types.push_back(use.type);
    new_ = llvm::Function::Create(llvm::FunctionType::get(old_.getReturnType(), types, false),
                                  llvm::GlobalValue::ExternalLinkage, "", old_.getParent());
    new_->copyAttributesFrom(&old_);
    new_->copyMetadata(&old_, 0);
    new_->takeName(&old_);
    new_->setCallingConv(llvm::CallingConv::PTX_Kernel);
    new_->splice(new_->begin(), &old_);
  }

  void rewrite_argument(unsigned index, llvm::IRBuilder<>& builder) {
    Arg& arg = kernel_.args[index];
    llvm::Argument& from = *old_.getArg(index);
    llvm::Argument& to = *new_->getArg(index);
    to.takeName(&from);
    place(arg, to);
    if (!is_number(arg)) {
      from.replaceAllUsesWith(&to);
      // Nothing writes constant memory while a kernel runs, so that loads may use the read-only cache.
      if (arg.kind == ArgKind::Constant || arg.kind == ArgKind::Image) {
        new_->addParamAttr(index, llvm::Attribute::NoAlias);
        new_->addParamAttr(index, llvm::Attribute::ReadOnly);
      }
      return;
    }
    new_->removeParamAttrs(index, llvm::AttributeFuncs::typeIncompatible(to.getType()));
    llvm::Value* const number = builder.CreateZExt(&to, builder.getInt64Ty());
    from.replaceAllUsesWith(arg.kind == ArgKind::Local
                                ? builder.CreateInBoundsGEP(builder.getInt8Ty(),
                                                            &dynamic_local_memory(*new_->getParent()), number)
                                : builder.CreateIntToPtr(number, from.getType()));
  }

  void place(Arg& arg, const llvm::Argument& argument) {
    const llvm::DataLayout& layout = new_->getParent()->getDataLayout();
    llvm::Type* const type = argument.hasByValAttr() ? argument.getParamByValType() : argument.getType();
    const llvm::Align alignment =
        argument.hasByValAttr() ? argument.getParamAlign().valueOrOne() : layout.getABITypeAlign(type);
    arg.size = static_cast<std::uint32_t>(layout.getTypeAllocSize(type));
    arg.offset = block_.add(arg.size, alignment);
  }

  void rewrite_hidden() {
    const llvm::DataLayout& layout = new_->getParent()->getDataLayout();
    auto argument = new_->arg_begin() + static_cast<std::ptrdiff_t>(kernel_.args.size());
    for (const HiddenUse& use : uses_) {
      kernel_.hidden.push_back(
          {use.what, block_.add(layout.getTypeAllocSize(use.type), layout.getABITypeAlign(use.type))});
      for (llvm::CallInst* const call : use.calls) {
        call->replaceAllUsesWith(&*argument);
        call->eraseFromParent();
      }
      ++argument;
    }
  }

  llvm::Function& old_;
  Kernel& kernel_;
  std::vector<HiddenUse> uses_;
  llvm::Function* new_ = nullptr;
  ParameterBlock block_;
};

/// Adds the directives that PTX shall contain for the kernel.
void annotate(llvm::Function& function, const Kernel& kernel, unsigned max_registers) {
  llvm::LLVMContext& context = function.getContext();
  llvm::NamedMDNode* const annotations = function.getParent()->getOrInsertNamedMetadata("nvvm.annotations");
  const auto add = [&](const std::string& name, std::uint32_t value) {
    auto* const number = llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), value);
    annotations->addOperand(
        llvm::MDNode::get(context, {llvm::ValueAsMetadata::get(&function), llvm::MDString::get(context, name),
                                    llvm::ConstantAsMetadata::get(number)}));
  };
  add("kernel", 1);
  if (kernel.required_group[0] != 0) {
    // Without uniform work-groups, the last ones of an NDRange may be smaller.
    const std::string bound = kernel.uniform_groups ? "reqntid" : "maxntid";
    for (unsigned i = 0; i < 3; ++i) add(bound + "xyz"[i], kernel.required_group[i]);
  }
  if (max_registers != 0) add("maxnreg", max_registers);
}

}  // namespace

llvm::GlobalVariable& dynamic_local_memory(llvm::Module& module) {
  if (llvm::GlobalVariable* const known = module.getGlobalVariable(kDynamicLocalMemory)) return *known;
  auto* const memory =
      new llvm::GlobalVariable(module, llvm::ArrayType::get(llvm::Type::getInt8Ty(module.getContext()), 0),
                               false, llvm::GlobalValue::ExternalLinkage, nullptr, kDynamicLocalMemory,
                               nullptr, llvm::GlobalValue::NotThreadLocal, kSharedSpace);
  memory->setAlignment(llvm::Align(kLocalAlignment));
  return *memory;
}

void rewrite_parameters(llvm::Module& module, std::vector<Kernel>& kernels, unsigned max_registers) {
  if (llvm::NamedMDNode* const old = module.getNamedMetadata("nvvm.annotations")) old->eraseFromParent();
  for (Kernel& kernel : kernels) {
    llvm::Function* const function = Rewriting(*module.getFunction(kernel.name), kernel).run();
    function->removeFnAttr(llvm::Attribute::NoInline);
    annotate(*function, kernel, max_registers);
  }
}

}  // namespace clique::daemon::compiler
