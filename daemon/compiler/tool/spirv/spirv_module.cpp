#include "daemon/compiler/tool/spirv/spirv_module.hpp"

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include <stdexcept>

#include "daemon/compiler/tool/common/address_spaces.hpp"
#include "daemon/compiler/tool/common/is_kernel.hpp"
#include "daemon/compiler/tool/common/target.hpp"
#include "daemon/compiler/tool/spirv/builtin_names.hpp"

namespace clique::daemon::compiler {

namespace {

/// Metadata that marks modules from SPIR-V, and what they are linked into.
constexpr const char* kMark = "clique.spirv";
/// The translator's metadata for modules in which all kernels may contract a * b + c to one operation.
constexpr const char* kContraction = "opencl.enable.FP_CONTRACT";
/// Maximum error of a single-precision division, in units in the last place (OpenCL SPIR-V Environment
/// Specification, ULP values for math instructions).
constexpr float kDivisionError = 2.5F;

/// Translates types to NVPTX's address spaces.
class Types : public llvm::ValueMapTypeRemapper {
 public:
  llvm::Type* remapType(llvm::Type* type) override {
    if (const auto known = known_.find(type); known != known_.end()) return known->second;
    llvm::Type* const result = translate(type);
    known_[type] = result;
    return result;
  }

 private:
  llvm::Type* translate(llvm::Type* type) {
    if (type->isPointerTy())
      return llvm::PointerType::get(type->getContext(), nvptx_space(type->getPointerAddressSpace()));
    if (auto* const array = llvm::dyn_cast<llvm::ArrayType>(type))
      return llvm::ArrayType::get(remapType(array->getElementType()), array->getNumElements());
    if (auto* const vector = llvm::dyn_cast<llvm::FixedVectorType>(type))
      return llvm::FixedVectorType::get(remapType(vector->getElementType()), vector->getNumElements());
    if (auto* const structure = llvm::dyn_cast<llvm::StructType>(type)) return translate(*structure);
    if (auto* const function = llvm::dyn_cast<llvm::FunctionType>(type))
      return llvm::FunctionType::get(remapType(function->getReturnType()), all(function->params()),
                                     function->isVarArg());
    if (auto* const opaque = llvm::dyn_cast<llvm::TargetExtType>(type)) return translate(*opaque);
    return type;
  }

  llvm::Type* translate(llvm::StructType& type) {
    if (type.isOpaque()) return &type;
    const auto elements = all(type.elements());
    if (llvm::ArrayRef(elements) == type.elements()) return &type;
    if (type.isLiteral()) return llvm::StructType::get(type.getContext(), elements, type.isPacked());
    return llvm::StructType::create(type.getContext(), elements, type.getName(), type.isPacked());
  }

  /// Opaque types, which translators of LLVM 17 and later use where older ones use pointers.
  static llvm::Type* translate(const llvm::TargetExtType& type) {
    const llvm::StringRef name = type.getName();
    const auto pointer = [&](unsigned space) { return llvm::PointerType::get(type.getContext(), space); };
    if (name == "spirv.Image" || name == "spirv.SampledImage") return pointer(kGlobalSpace);
    if (name == "spirv.Sampler") return pointer(kGlobalSpace);
    if (name == "spirv.Event") return pointer(kGenericSpace);
    throw std::runtime_error("the program uses the type " + name.str() +
                             ", which the device does not support");
  }

  llvm::SmallVector<llvm::Type*, 8> all(llvm::ArrayRef<llvm::Type*> types) {
    llvm::SmallVector<llvm::Type*, 8> result;
    for (llvm::Type* const type : types) result.push_back(remapType(type));
    return result;
  }

  llvm::DenseMap<llvm::Type*, llvm::Type*> known_;
};

/// Copies a module into a new one.
class Retargeting : public llvm::ValueMaterializer {
 public:
  Retargeting(const llvm::Module& from, const llvm::DataLayout& layout, const Options& options)
      : from_(from),
        options_(options),
        to_(std::make_unique<llvm::Module>(from.getModuleIdentifier(), from.getContext())) {
    to_->setTargetTriple(kTriple);
    to_->setDataLayout(layout);
    to_->getOrInsertNamedMetadata(kMark);
  }

  std::unique_ptr<llvm::Module> run() {
    if (!llvm::StringRef(from_.getTargetTriple()).starts_with("spir64"))
      throw std::runtime_error("the module is for " + from_.getTargetTriple() +
                               "; this device needs addresses of 64 bits (Physical64)");
    if (!from_.alias_empty() || !from_.ifunc_empty())
      throw std::runtime_error("the module has aliases, which are not supported");
    // Declares everything before anything refers to it.
    for (const llvm::GlobalVariable& variable : from_.globals()) declare(variable);
    for (const llvm::Function& function : from_) declare(function);
    for (const llvm::GlobalVariable& variable : from_.globals()) define(variable);
    for (const llvm::Function& function : from_)
      if (!function.isDeclaration()) define(function);
    // Cloning leaves an empty list of debug information, and readers then warn about its missing version.
    if (llvm::NamedMDNode* const units = to_->getNamedMetadata("llvm.dbg.cu")) units->eraseFromParent();
    return std::move(to_);
  }

  /// Removes casts between address spaces that are the same for NVPTX.
  llvm::Value* materialize(llvm::Value* value) override {
    auto* const cast = llvm::dyn_cast<llvm::ConstantExpr>(value);
    if (cast == nullptr || cast->getOpcode() != llvm::Instruction::AddrSpaceCast) return nullptr;
    llvm::Value* const pointer = cast->getOperand(0);
    if (types_.remapType(pointer->getType()) != types_.remapType(cast->getType())) return nullptr;
    return llvm::MapValue(pointer, map_, llvm::RF_None, &types_, this);
  }

 private:
  void declare(const llvm::GlobalVariable& variable) {
    // Nothing writes to constant memory, whether the variable is decorated as constant or not.
    const bool constant = variable.isConstant() || variable.getAddressSpace() == kSpirConstant;
    auto* const made = new llvm::GlobalVariable(
        *to_, types_.remapType(variable.getValueType()), constant, variable.getLinkage(), nullptr,
        variable.getName(), nullptr, variable.getThreadLocalMode(), nvptx_space(variable.getAddressSpace()));
    made->copyAttributesFrom(&variable);
    map_[&variable] = made;
  }

  void define(const llvm::GlobalVariable& variable) {
    if (!variable.hasInitializer()) return;
    llvm::cast<llvm::GlobalVariable>(map_[&variable])
        ->setInitializer(llvm::MapValue(variable.getInitializer(), map_, llvm::RF_None, &types_, this));
  }

  void declare(const llvm::Function& function) {
    auto* const made =
        llvm::Function::Create(llvm::cast<llvm::FunctionType>(types_.remapType(function.getFunctionType())),
                               function.getLinkage(), 0, function.getName(), to_.get());
    if (function.isIntrinsic()) {
      // The name of an intrinsic contains its types.
      const auto named = llvm::Intrinsic::remangleIntrinsicFunction(made);
      map_[&function] = named.value_or(made);
      if (named && *named != made) made->eraseFromParent();
      return;
    }
    map_[&function] = made;
    if (function.isDeclaration()) finish(*made, function);
  }

  void define(const llvm::Function& function) {
    auto* const made = llvm::cast<llvm::Function>(map_[&function]);
    for (auto pair : llvm::zip(function.args(), made->args())) map_[&std::get<0>(pair)] = &std::get<1>(pair);
    llvm::SmallVector<llvm::ReturnInst*, 4> returns;
    llvm::CloneFunctionInto(made, &function, map_, llvm::CloneFunctionChangeType::DifferentModule, returns,
                            "", nullptr, &types_, this);
    finish(*made, function);
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(*made)))
      finish(instruction);
  }

  void finish(llvm::Function& made, const llvm::Function& function) {
    const bool kernel = is_kernel(function);
    made.setCallingConv(kernel ? llvm::CallingConv::SPIR_KERNEL : llvm::CallingConv::C);
    made.setAttributes(attributes_of(function.getAttributes(), made.arg_size()));
    if (!kernel) return;
    if (options_.uniform_work_group_size) made.addFnAttr("uniform-work-group-size", "true");
    const llvm::DataLayout& layout = to_->getDataLayout();
    for (llvm::Argument& argument : made.args())
      if (argument.hasByValAttr() && !argument.getParamAlign())
        argument.addAttr(llvm::Attribute::getWithAlignment(
            made.getContext(), layout.getABITypeAlign(argument.getParamByValType())));
  }

  void finish(llvm::Instruction& instruction) {
    if (auto* const call = llvm::dyn_cast<llvm::CallBase>(&instruction);
        call != nullptr && call->getIntrinsicID() == llvm::Intrinsic::not_intrinsic) {
      call->setCallingConv(llvm::CallingConv::C);
      call->setAttributes(attributes_of(call->getAttributes(), call->arg_size()));
    }
    if (llvm::isa<llvm::AddrSpaceCastInst>(instruction) &&
        instruction.getType() == instruction.getOperand(0)->getType()) {
      instruction.replaceAllUsesWith(instruction.getOperand(0));
      instruction.eraseFromParent();
      return;
    }
    if (llvm::isa<llvm::FPMathOperator>(instruction)) allow(instruction);
  }

  /// The attributes that the front end would give. A function's effects on memory follow from its body later;
  /// until then, each function may be one that all work-items of a group have to reach together (convergent).
  llvm::AttributeList attributes_of(const llvm::AttributeList& from, std::size_t parameters) {
    llvm::LLVMContext& context = to_->getContext();
    llvm::AttrBuilder function(context);
    function.addAttribute(llvm::Attribute::Convergent).addAttribute(llvm::Attribute::NoUnwind);
    // NoInline is not kept: compilers add it to everything when they do not optimise.
    if (from.hasFnAttr(llvm::Attribute::AlwaysInline)) function.addAttribute(llvm::Attribute::AlwaysInline);
    llvm::SmallVector<llvm::AttributeSet, 8> of_parameters;
    for (std::size_t i = 0; i < parameters; ++i) of_parameters.push_back(translate(from.getParamAttrs(i)));
    return llvm::AttributeList::get(context, llvm::AttributeSet::get(context, function), from.getRetAttrs(),
                                    of_parameters);
  }

  llvm::AttributeSet translate(const llvm::AttributeSet& from) {
    llvm::AttrBuilder result(to_->getContext(), from);
    for (const llvm::Attribute attribute : from)
      if (attribute.isTypeAttribute() && attribute.getValueAsType() != nullptr)
        result.addTypeAttr(attribute.getKindAsEnum(), types_.remapType(attribute.getValueAsType()));
    return llvm::AttributeSet::get(to_->getContext(), result);
  }

  /// Sets the floating-point flags that the front end would set for these options. As in OpenCL C, the
  /// program decides on contraction.
  void allow(llvm::Instruction& operation) const {
    const Options& o = options_;
    llvm::FastMathFlags flags = operation.getFastMathFlags();
    const bool unsafe = o.unsafe_math || o.fast_relaxed_math;
    if (from_.getNamedMetadata(kContraction) != nullptr) flags.setAllowContract();
    if (unsafe || o.no_signed_zeros) flags.setNoSignedZeros();
    if (unsafe) {
      flags.setAllowReassoc();
      flags.setAllowReciprocal();
      flags.setApproxFunc();
    }
    if (o.finite_math_only || o.fast_relaxed_math) {
      flags.setNoNaNs();
      flags.setNoInfs();
    }
    operation.setFastMathFlags(flags);
    if (operation.getOpcode() == llvm::Instruction::FDiv && o.approximate_division() &&
        operation.getType()->getScalarType()->isFloatTy())
      operation.setMetadata(llvm::LLVMContext::MD_fpmath,
                            llvm::MDBuilder(to_->getContext()).createFPMath(kDivisionError));
  }

  const llvm::Module& from_;
  const Options& options_;
  std::unique_ptr<llvm::Module> to_;
  Types types_;
  llvm::ValueToValueMapTy map_;
};

}  // namespace

std::unique_ptr<llvm::Module> retarget_spirv(const llvm::Module& module, const llvm::DataLayout& layout,
                                             const Options& options) {
  return Retargeting(module, layout, options).run();
}

void rename_spirv_builtins(llvm::Module& module) {
  if (module.getNamedMetadata(kMark) == nullptr) return;
  for (llvm::Function& function : llvm::make_early_inc_range(module)) {
    if (!function.isDeclaration() || function.isIntrinsic()) continue;
    const std::string name = nvptx_builtin_name(function.getName());
    if (name == function.getName()) continue;
    if (llvm::Function* const known = module.getFunction(name)) {
      function.replaceAllUsesWith(known);
      function.eraseFromParent();
    } else {
      function.setName(name);
    }
  }
}

}  // namespace clique::daemon::compiler
