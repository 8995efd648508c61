#include <llvm/ADT/SetVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include <stdexcept>

#include "daemon/compiler/tool/common/bitcode.hpp"
#include "daemon/compiler/tool/packing/pack.hpp"

namespace clique::daemon::compiler {

namespace {

/// Declares in a new module everything that the moved definition refers to.
class Declarer : public llvm::ValueMaterializer {
 public:
  explicit Declarer(llvm::Module& module) : module_(module) {}

  llvm::Value* materialize(llvm::Value* value) override {
    if (auto* const function = llvm::dyn_cast<llvm::Function>(value)) return declare(*function);
    if (auto* const variable = llvm::dyn_cast<llvm::GlobalVariable>(value)) return declare(*variable);
    if (llvm::isa<llvm::GlobalValue>(value))
      throw std::runtime_error("'" + value->getName().str() +
                               "' is an alias, which the device library must not contain");
    return nullptr;
  }

  const std::vector<std::string>& declared() const { return declared_; }

 private:
  llvm::Function* declare(const llvm::Function& function) {
    if (llvm::Function* const known = module_.getFunction(function.getName())) return known;
    auto* const made = llvm::Function::Create(function.getFunctionType(), llvm::GlobalValue::ExternalLinkage,
                                              function.getAddressSpace(), function.getName(), &module_);
    made->copyAttributesFrom(&function);
    if (!function.isIntrinsic()) declared_.push_back(function.getName().str());
    return made;
  }

  llvm::GlobalVariable* declare(const llvm::GlobalVariable& variable) {
    if (auto* const known = module_.getGlobalVariable(variable.getName(), true)) return known;
    auto* const made = new llvm::GlobalVariable(
        module_, variable.getValueType(), variable.isConstant(), llvm::GlobalValue::ExternalLinkage, nullptr,
        variable.getName(), nullptr, variable.getThreadLocalMode(), variable.getAddressSpace());
    made->setAlignment(variable.getAlign());
    declared_.push_back(variable.getName().str());
    return made;
  }

  llvm::Module& module_;
  std::vector<std::string> declared_;
};

std::unique_ptr<llvm::Module> empty_like(const llvm::Module& module, llvm::StringRef name) {
  auto made = std::make_unique<llvm::Module>(name, module.getContext());
  made->setTargetTriple(module.getTargetTriple());
  made->setDataLayout(module.getDataLayout());
  return made;
}

PackMember finish(llvm::Module& module, const Declarer& declarer, llvm::StringRef name, std::uint32_t rank) {
  return {name.str(), rank, false, declarer.declared(), write_bitcode(module)};
}

PackMember extract(const llvm::Function& function, std::uint32_t rank) {
  const auto module = empty_like(*function.getParent(), function.getName());
  auto* const made = llvm::Function::Create(function.getFunctionType(), llvm::GlobalValue::ExternalLinkage,
                                            function.getAddressSpace(), function.getName(), module.get());
  made->copyAttributesFrom(&function);
  llvm::ValueToValueMapTy map;
  map[&function] = made;
  for (auto pair : llvm::zip(function.args(), made->args())) map[&std::get<0>(pair)] = &std::get<1>(pair);
  Declarer declarer(*module);
  llvm::SmallVector<llvm::ReturnInst*, 4> returns;
  llvm::CloneFunctionInto(made, &function, map, llvm::CloneFunctionChangeType::DifferentModule, returns, "",
                          nullptr, nullptr, &declarer);
  made->setLinkage(llvm::GlobalValue::ExternalLinkage);
  // Cloning leaves an empty list of debug information, and readers then warn about its missing version.
  if (llvm::NamedMDNode* const units = module->getNamedMetadata("llvm.dbg.cu")) units->eraseFromParent();
  return finish(*module, declarer, function.getName(), rank);
}

PackMember extract(const llvm::GlobalVariable& variable, std::uint32_t rank) {
  const auto module = empty_like(*variable.getParent(), variable.getName());
  Declarer declarer(*module);
  llvm::ValueToValueMapTy map;
  auto* const initial = llvm::MapValue(variable.getInitializer(), map, llvm::RF_None, nullptr, &declarer);
  auto* const made = new llvm::GlobalVariable(
      *module, variable.getValueType(), variable.isConstant(), llvm::GlobalValue::ExternalLinkage, initial,
      variable.getName(), nullptr, variable.getThreadLocalMode(), variable.getAddressSpace());
  made->setAlignment(variable.getAlign());
  return finish(*module, declarer, variable.getName(), rank);
}

}  // namespace

std::vector<PackMember> split_module(llvm::Module& module, const std::string& prefix, std::uint32_t rank) {
  llvm::StripDebugInfo(module);
  // Definitions become separate modules, so that internal ones need unique, external names.
  unsigned number = 0;
  for (llvm::GlobalValue& value : module.global_values()) {
    if (value.isDeclaration() || !value.hasLocalLinkage()) continue;
    value.setName(prefix + "." + std::to_string(number++) + "." + value.getName().str());
    value.setLinkage(llvm::GlobalValue::ExternalLinkage);
  }
  std::vector<PackMember> members;
  for (const llvm::GlobalVariable& variable : module.globals())
    if (!variable.isDeclaration() && !variable.getName().starts_with("llvm."))
      members.push_back(extract(variable, rank));
  for (const llvm::Function& function : module)
    if (!function.isDeclaration()) members.push_back(extract(function, rank));
  return members;
}

}  // namespace clique::daemon::compiler
