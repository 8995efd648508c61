#include "daemon/compiler/tool/passes/access_checks.hpp"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "daemon/compiler/tool/common/address_spaces.hpp"
#include "daemon/compiler/tool/common/is_kernel.hpp"

namespace clique::daemon::compiler {

namespace {

constexpr const char* kHiddenChecks = "__clique_access_checks";
constexpr const char* kCheck = "__clique_check_access";
constexpr const char* kCheckPixel = "__clique_check_pixel";

/// Whether all memory that an object of this kind has is the work-item's or the work-group's own, or a
/// parameter.
bool is_own_object(const llvm::Value* object) {
  if (llvm::isa<llvm::AllocaInst>(object)) return true;
  const auto* const argument = llvm::dyn_cast<llvm::Argument>(object);
  return argument != nullptr && argument->hasByValAttr();
}

/// Inserts checks into one function.
class AccessCheckInserter {
 public:
  using Emit = std::function<void(llvm::IRBuilder<>&, const AccessToCheck&)>;

  AccessCheckInserter(llvm::Function& function, const Emit& emit)
      : function_(function),
        layout_(function.getParent()->getDataLayout()),
        builder_(function.getContext()),
        emit_(emit) {}

  void run() {
    std::vector<llvm::Instruction*> instructions;
    for (llvm::Instruction& instruction : llvm::instructions(function_)) instructions.push_back(&instruction);
    for (llvm::Instruction* instruction : instructions) visit(*instruction);
  }

 private:
  void visit(llvm::Instruction& instruction) {
    builder_.SetInsertPoint(&instruction);
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
      check(load->getPointerOperand(), size_of(load->getType()), false);
    } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
      check(store->getPointerOperand(), size_of(store->getValueOperand()->getType()), true);
    } else if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
      check(update->getPointerOperand(), size_of(update->getType()), true);
    } else if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
      check(exchange->getPointerOperand(), size_of(exchange->getNewValOperand()->getType()), true);
    } else if (auto* memory = llvm::dyn_cast<llvm::MemIntrinsic>(&instruction)) {
      llvm::Value* const size = builder_.CreateZExtOrTrunc(memory->getLength(), builder_.getInt64Ty());
      check(memory->getRawDest(), size, true);
      if (auto* transfer = llvm::dyn_cast<llvm::MemTransferInst>(memory))
        check(transfer->getRawSource(), size, false);
    } else if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
      visit_call(*call);
    } else if (instruction.mayReadOrWriteMemory() && !llvm::isa<llvm::FenceInst>(instruction)) {
      throw std::runtime_error("the accesses of the instruction " + std::string(instruction.getOpcodeName()) +
                               " in " + function_.getName().str() + " cannot be checked");
    }
  }

  void visit_call(const llvm::CallBase& call) {
    const llvm::Function* const callee = call.getCalledFunction();
    if (call.getIntrinsicID() == llvm::Intrinsic::masked_load)
      return check_lanes(call.getArgOperand(0), call.getType(), call.getArgOperand(2), false);
    if (call.getIntrinsicID() == llvm::Intrinsic::masked_store)
      return check_lanes(call.getArgOperand(1), call.getArgOperand(0)->getType(), call.getArgOperand(3),
                         true);
    if (!call.mayReadOrWriteMemory() || llvm::isa<llvm::LifetimeIntrinsic>(call) ||
        llvm::isa<llvm::DbgInfoIntrinsic>(call) || llvm::isa<llvm::AssumeInst>(call) ||
        call.getIntrinsicID() == llvm::Intrinsic::experimental_noalias_scope_decl ||
        call.getIntrinsicID() == llvm::Intrinsic::prefetch || (callee != nullptr && !callee->isDeclaration()))
      return;
    const auto is_foreign = [](const llvm::Use& operand) {
      return operand->getType()->isPtrOrPtrVectorTy() && !is_own(operand);
    };
    if (std::none_of(call.arg_begin(), call.arg_end(), is_foreign)) return;
    throw std::runtime_error("the accesses of " +
                             (callee != nullptr ? callee->getName().str() : std::string("assembly")) +
                             " in " + function_.getName().str() + " cannot be checked");
  }

  /// An access to those elements of a vector for which the mask is set.
  void check_lanes(llvm::Value* pointer, llvm::Type* type, llvm::Value* mask, bool writes) {
    auto* const vector = llvm::cast<llvm::FixedVectorType>(type);
    for (unsigned lane = 0; lane < vector->getNumElements(); ++lane) {
      llvm::Value* const place = builder_.CreateConstGEP1_32(vector->getElementType(), pointer, lane);
      check(place,
            builder_.CreateSelect(builder_.CreateExtractElement(mask, lane),
                                  size_of(vector->getElementType()), builder_.getInt64(0)),
            writes);
    }
  }

  llvm::Value* size_of(llvm::Type* type) {
    return builder_.getInt64(layout_.getTypeStoreSize(type).getFixedValue());
  }

  static bool is_own_space(unsigned space) { return space != kGenericSpace && space != kGlobalSpace; }

  static llvm::SmallVector<const llvm::Value*> objects_of(const llvm::Value* pointer) {
    llvm::SmallVector<const llvm::Value*> objects;
    llvm::getUnderlyingObjects(pointer, objects, /*LI=*/nullptr, /*MaxLookup=*/0);
    return objects;
  }

  static bool is_own(const llvm::Value* pointer) {
    return is_own_space(pointer->getType()->getPointerAddressSpace()) ||
           llvm::all_of(objects_of(pointer), [](const llvm::Value* object) {
             return is_own_object(object) || llvm::isa<llvm::GlobalVariable>(object);
           });
  }

  void check(llvm::Value* pointer, llvm::Value* size, bool writes) {
    if (is_own(pointer)) return;
    // A pointer to a buffer or to a variable of the program, whichever was chosen.
    for (const llvm::Value* object : objects_of(pointer))
      if (const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(object))
        size = builder_.CreateSelect(is_inside(pointer, *variable), builder_.getInt64(0), size);
    emit_(builder_, {pointer, size, writes});
  }

  llvm::Value* is_inside(llvm::Value* pointer, const llvm::GlobalVariable& variable) {
    const auto address = [&](llvm::Value* of) {
      return builder_.CreatePtrToInt(builder_.CreateAddrSpaceCast(of, builder_.getPtrTy()),
                                     builder_.getInt64Ty());
    };
    return builder_.CreateICmpULT(
        builder_.CreateSub(address(pointer), address(const_cast<llvm::GlobalVariable*>(&variable))),
        builder_.getInt64(layout_.getTypeAllocSize(variable.getValueType()).getFixedValue()));
  }

  llvm::Function& function_;
  const llvm::DataLayout& layout_;
  llvm::IRBuilder<> builder_;
  const Emit& emit_;
};

/// The parameter that has the hidden value; null if the kernel has none.
llvm::Argument* checks_of(llvm::Function& function, const Kernel& kernel) {
  for (std::size_t i = 0; i < kernel.hidden.size(); ++i)
    if (kernel.hidden[i].what == static_cast<std::uint8_t>(Hidden::AccessChecks))
      return function.getArg(static_cast<unsigned>(kernel.args.size() + i));
  return nullptr;
}

bool is_image(const llvm::Value* pointer, const Kernel& kernel) {
  const auto* const argument = llvm::dyn_cast<llvm::Argument>(llvm::getUnderlyingObject(pointer, 0));
  return argument != nullptr && argument->getArgNo() < kernel.args.size() &&
         kernel.args[argument->getArgNo()].kind == ArgKind::Image;
}

bool is_check(const llvm::Function& function) {
  return function.getName() == kCheck || function.getName() == kCheckPixel;
}

/// Inserts a check before a call that reads or writes a pixel at coordinates that are integers. Others may
/// access the whole image.
void check_pixel(llvm::CallBase& call, llvm::FunctionCallee hidden, llvm::FunctionCallee check) {
  constexpr unsigned kCoordinateBits = 32;
  const bool writes = call.getType()->isVoidTy();
  const auto has_integers = [&](unsigned operand) {
    return call.getArgOperand(operand)->getType()->isIntOrIntVectorTy(kCoordinateBits);
  };
  const bool has_sampler = !writes && call.arg_size() == 3 && !has_integers(1);
  const unsigned operand = has_sampler ? 2 : 1;
  if (call.arg_size() != (writes || has_sampler ? 3U : 2U) || !has_integers(operand)) return;
  llvm::Value* const value = call.getArgOperand(operand);
  const auto* const vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  const unsigned lanes = vector == nullptr ? 1 : std::min(vector->getNumElements(), 3U);
  llvm::IRBuilder<> builder(&call);
  std::vector<llvm::Value*> arguments{builder.CreateCall(hidden), call.getArgOperand(0),
                                      builder.getInt32(lanes)};
  for (unsigned lane = 0; lane < 3; ++lane)
    arguments.push_back(lane >= lanes       ? builder.getInt32(0)
                        : vector == nullptr ? value
                                            : builder.CreateExtractElement(value, lane));
  arguments.push_back(builder.getInt32(writes ? 1 : 0));
  builder.CreateCall(check, arguments);
}

void check_pixels(llvm::Module& module, llvm::FunctionCallee hidden, llvm::FunctionCallee check) {
  std::vector<llvm::CallBase*> calls;
  for (llvm::Function& function : module) {
    const llvm::StringRef name = function.getName();
    if (!function.isDeclaration() || !(name.contains("read_image") || name.contains("write_image"))) continue;
    for (llvm::User* user : function.users())
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(user)) calls.push_back(call);
  }
  for (llvm::CallBase* call : calls) check_pixel(*call, hidden, check);
}

void require_inlined(const llvm::Function& kernel) {
  for (const llvm::Instruction& instruction : llvm::instructions(kernel))
    if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
        call != nullptr && call->getCalledFunction() != nullptr &&
        !call->getCalledFunction()->isDeclaration() && !is_check(*call->getCalledFunction()))
      throw std::runtime_error("the accesses of function " + call->getCalledFunction()->getName().str() +
                               " cannot be checked, because it is not inlined");
}

}  // namespace

void insert_access_checks(llvm::Function& function,
                          const std::function<void(llvm::IRBuilder<>&, const AccessToCheck&)>& emit) {
  AccessCheckInserter(function, emit).run();
}

void ask_for_access_checks(llvm::Module& module) {
  llvm::LLVMContext& context = module.getContext();
  auto* const checks = llvm::PointerType::get(context, kGlobalSpace);
  const llvm::FunctionCallee hidden = module.getOrInsertFunction(kHiddenChecks, checks);
  auto* const number = llvm::Type::getInt64Ty(context);
  llvm::FunctionCallee check = module.getOrInsertFunction(kCheck, llvm::Type::getVoidTy(context), checks,
                                                          number, number, llvm::Type::getInt32Ty(context));
  // Nothing calls it until all else is optimised.
  llvm::appendToCompilerUsed(module, {llvm::cast<llvm::Function>(check.getCallee())});
  auto* const integer = llvm::Type::getInt32Ty(context);
  check_pixels(module, hidden,
               module.getOrInsertFunction(kCheckPixel, llvm::Type::getVoidTy(context), checks, checks,
                                          integer, integer, integer, integer, integer));
  for (llvm::Function& function : module)
    if (is_kernel(function) && !function.isDeclaration())
      llvm::IRBuilder<>(&*function.getEntryBlock().getFirstInsertionPt()).CreateCall(hidden);
}

void inline_for_access_checks(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration() || is_kernel(function) || is_check(function)) continue;
    function.removeFnAttr(llvm::Attribute::NoInline);
    function.removeFnAttr(llvm::Attribute::OptimizeNone);
    function.addFnAttr(llvm::Attribute::AlwaysInline);
  }
}

void insert_access_checks(llvm::Module& module, const std::vector<Kernel>& kernels) {
  llvm::Function* const check = module.getFunction(kCheck);
  for (const Kernel& kernel : kernels) {
    llvm::Function& function = *module.getFunction(kernel.name);
    llvm::Argument* const checks = checks_of(function, kernel);
    // Until now, nothing used it.
    checks->getParent()->removeParamAttr(checks->getArgNo(), llvm::Attribute::ReadNone);
    require_inlined(function);
    insert_access_checks(function, [&](llvm::IRBuilder<>& builder, const AccessToCheck& access) {
      // What describes an image is not memory of the program.
      if (is_image(access.pointer, kernel)) return;
      llvm::Value* size = access.size;
      if (access.pointer->getType()->getPointerAddressSpace() == kGenericSpace)
        size = builder.CreateSelect(
            builder.CreateIntrinsic(llvm::Intrinsic::nvvm_isspacep_global, {}, {access.pointer}), size,
            builder.getInt64(0));
      builder.CreateCall(check, {checks, builder.CreatePtrToInt(access.pointer, builder.getInt64Ty()), size,
                                 builder.getInt32(access.writes ? 1 : 0)});
    });
  }
  llvm::removeFromUsedLists(module, [&](llvm::Constant* used) { return used->stripPointerCasts() == check; });
}

}  // namespace clique::daemon::compiler
