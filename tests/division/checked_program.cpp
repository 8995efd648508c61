#include "division/checked_program.hpp"

#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>

#include <utility>

#include "daemon/compiler/contract/language_features.hpp"
#include "daemon/compiler/tool/common/analyses.hpp"
#include "daemon/compiler/tool/common/is_kernel.hpp"
#include "daemon/compiler/tool/common/options.hpp"
#include "daemon/compiler/tool/common/target.hpp"
#include "daemon/compiler/tool/footprints/builtins.hpp"
#include "daemon/compiler/tool/footprints/find_footprints.hpp"
#include "daemon/compiler/tool/frontend/frontend.hpp"
#include "daemon/compiler/tool/passes/access_checks.hpp"

namespace clique::test::division {

namespace {

namespace compiler = daemon::compiler;

/// What queries of the index space read, in the order of kQueriesOfItems.
using ItemValues = std::array<std::array<std::uint64_t, 3>, 8>;
constexpr const char* kQueriesOfItems[] = {"get_global_id",     "get_local_id",           "get_group_id",
                                           "get_global_size",   "get_local_size",         "get_num_groups",
                                           "get_global_offset", "get_enqueued_local_size"};

// The work-item that runs; the code of kernels has their addresses.
ItemValues item_values;
const Checks* current_checks = nullptr;

void check_access(const std::byte* address, std::uint64_t size, bool writes) {
  // Where optimised code chooses between a buffer and something else, it may not be one.
  if (size != 0) current_checks->access({address, size, writes});
}

/// @param image the number of the image, from 1 on, instead of an address
void check_pixel(std::uintptr_t image, std::int32_t x, std::int32_t y, std::int32_t z, bool writes) {
  current_checks->pixel({static_cast<unsigned>(image - 1), {x, y, z}, writes});
}

template <typename T>
T value_of(llvm::Expected<T> expected) {
  if (!expected) throw std::runtime_error(llvm::toString(expected.takeError()));
  return std::move(*expected);
}

/// Gives the builtin functions that random kernels call bodies for this processor.
class Builtins {
 public:
  explicit Builtins(llvm::Module& module) : module_(module), builder_(module.getContext()) {}

  void define_all() {
    std::vector<llvm::Function*> declared;
    for (llvm::Function& function : module_)
      if (function.isDeclaration() && !function.isIntrinsic()) declared.push_back(&function);
    for (llvm::Function* function : declared) define(*function);
  }

 private:
  void define(llvm::Function& function) {
    builder_.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "", &function));
    const auto builtin = compiler::footprints::builtin_of(function.getName());
    llvm::Value* const result = body(function, builtin.name, builtin.parameters);
    if (function.getReturnType()->isVoidTy()) {
      builder_.CreateRetVoid();
    } else {
      builder_.CreateRet(result != nullptr ? result : llvm::Constant::getNullValue(function.getReturnType()));
    }
    function.setLinkage(llvm::GlobalValue::InternalLinkage);
    function.setAttributes({});
    function.addFnAttr(llvm::Attribute::AlwaysInline);
  }

  /// @returns null: the result is 0, or there is none
  llvm::Value* body(llvm::Function& function, llvm::StringRef name, llvm::StringRef parameters) {
    for (std::size_t i = 0; i < std::size(kQueriesOfItems); ++i)
      if (name == kQueriesOfItems[i]) return query(i, function.getArg(0));
    if (name == "barrier" || name == "__translate_sampler_initializer") return nullptr;
    if (name.starts_with("read_image") || name.starts_with("write_image")) {
      pixel(function, name.starts_with("write_image"));
      return nullptr;
    }
    if (name.starts_with("atom")) return change(function, name, parameters);
    const bool is_signed = parameters.ends_with("i") || parameters.ends_with("l");
    const auto least = is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin;
    const auto greatest = is_signed ? llvm::Intrinsic::smax : llvm::Intrinsic::umax;
    const auto argument = [&](unsigned i) { return function.getArg(i); };
    const auto binary = [&](llvm::Intrinsic::ID id, llvm::Value* one, llvm::Value* other) {
      return builder_.CreateBinaryIntrinsic(id, one, other);
    };
    if (name == "min") return binary(least, argument(0), argument(1));
    if (name == "max") return binary(greatest, argument(0), argument(1));
    if (name == "clamp") return binary(least, binary(greatest, argument(0), argument(1)), argument(2));
    if (name == "mul24") return builder_.CreateMul(argument(0), argument(1));
    throw std::runtime_error("the builtin function " + function.getName().str() +
                             " has no body for this test");
  }

  llvm::Value* query(std::size_t which, llvm::Value* dimension) {
    auto* const type =
        llvm::ArrayType::get(llvm::ArrayType::get(builder_.getInt64Ty(), 3), std::tuple_size_v<ItemValues>);
    llvm::Value* const place =
        builder_.CreateInBoundsGEP(type, module_.getOrInsertGlobal("clique_item_values", type),
                                   {builder_.getInt64(0), builder_.getInt64(which), dimension});
    return builder_.CreateLoad(builder_.getInt64Ty(), place);
  }

  void pixel(llvm::Function& function, bool writes) {
    // The coordinates follow the image and, if there is one, the sampler.
    unsigned operand = 1;
    if (function.getArg(operand)->getType()->isPointerTy()) ++operand;
    llvm::Value* const value = function.getArg(operand);
    const auto* const vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
    const unsigned lanes = vector == nullptr ? 1 : std::min(vector->getNumElements(), 3U);
    std::vector<llvm::Value*> arguments{builder_.CreatePtrToInt(function.getArg(0), builder_.getInt64Ty())};
    for (unsigned lane = 0; lane < 3; ++lane)
      arguments.push_back(lane >= lanes       ? builder_.getInt32(0)
                          : vector == nullptr ? value
                                              : builder_.CreateExtractElement(value, lane));
    arguments.push_back(builder_.getInt1(writes));
    const auto callee = module_.getOrInsertFunction(
        "clique_check_pixel", builder_.getVoidTy(), builder_.getInt64Ty(), builder_.getInt32Ty(),
        builder_.getInt32Ty(), builder_.getInt32Ty(), builder_.getInt1Ty());
    builder_.CreateCall(callee, arguments);
  }

  llvm::Value* change(llvm::Function& function, llvm::StringRef name, llvm::StringRef parameters) {
    using llvm::AtomicRMWInst;
    if (!parameters.consume_front("PU3AS1V")) parameters.consume_front("PVU7_Atomic");
    const bool is_signed = parameters.starts_with("i") || parameters.starts_with("l");
    const auto is = [&](llvm::StringRef operation) {
      return name.ends_with("_" + operation.str()) || name.ends_with("_" + operation.str() + "_explicit");
    };
    AtomicRMWInst::BinOp operation = AtomicRMWInst::BAD_BINOP;
    if (is("add") || is("inc")) operation = AtomicRMWInst::Add;
    if (is("sub") || is("dec")) operation = AtomicRMWInst::Sub;
    if (is("and")) operation = AtomicRMWInst::And;
    if (is("or")) operation = AtomicRMWInst::Or;
    if (is("xor")) operation = AtomicRMWInst::Xor;
    if (is("min")) operation = is_signed ? AtomicRMWInst::Min : AtomicRMWInst::UMin;
    if (is("max")) operation = is_signed ? AtomicRMWInst::Max : AtomicRMWInst::UMax;
    if (operation == AtomicRMWInst::BAD_BINOP)
      throw std::runtime_error("the builtin function " + function.getName().str() +
                               " has no body for this test");
    llvm::Value* const operand = function.arg_size() > 1
                                     ? static_cast<llvm::Value*>(function.getArg(1))
                                     : llvm::ConstantInt::get(function.getReturnType(), 1);
    // Random kernels need not align what they change.
    return builder_.CreateAtomicRMW(operation, function.getArg(0), operand,
                                    llvm::MaybeAlign(operand->getType()->getIntegerBitWidth() / 8),
                                    llvm::AtomicOrdering::Monotonic);
  }

  llvm::Module& module_;
  llvm::IRBuilder<> builder_;
};

/// Inserts a call before each access to memory that is not the work-item's own.
void insert_checks(llvm::Module& module) {
  llvm::LLVMContext& context = module.getContext();
  const auto callee = module.getOrInsertFunction(
      "clique_check_access", llvm::Type::getVoidTy(context), llvm::PointerType::getUnqual(context),
      llvm::Type::getInt64Ty(context), llvm::Type::getInt1Ty(context));
  for (llvm::Function& function : module)
    compiler::insert_access_checks(
        function, [&](llvm::IRBuilder<>& builder, const compiler::AccessToCheck& access) {
          builder.CreateCall(callee, {builder.CreateAddrSpaceCast(access.pointer, builder.getPtrTy()),
                                      access.size, builder.getInt1(access.writes)});
        });
}

void run_passes(llvm::Module& module, llvm::TargetMachine* machine, bool optimised) {
  llvm::PipelineTuningOptions tuning;
  // Loops that run as vectors also read what lies between the elements that they use, and drop it.
  tuning.LoopVectorization = false;
  llvm::PassBuilder builder(machine, tuning);
  compiler::Analyses analyses(builder);
  (optimised ? builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2)
             : builder.buildO0DefaultPipeline(llvm::OptimizationLevel::O0))
      .run(module, analyses.modules);
}

std::unique_ptr<llvm::Module> front_end(llvm::LLVMContext& context, const std::string& text) {
  compiler::Source source;
  source.text = text;
  source.extensions = compiler::language_extensions();
  std::string log;
  auto options = compiler::parse_options(compiler::Request::Kind::Analyse, "-cl-std=CL3.0 -w");
  auto module = compiler::compile_source(context, source, options, compiler::target_for("sm_90"), log);
  if (module == nullptr) throw std::runtime_error("the kernels do not compile:\n" + log);
  return module;
}

/// Makes a module for NVIDIA's GPUs one for this processor.
void retarget(llvm::Module& module, const llvm::TargetMachine& machine) {
  module.setTargetTriple(machine.getTargetTriple().str());
  module.setDataLayout(machine.createDataLayout());
  for (llvm::Function& function : module) {
    for (const char* attribute : {"target-cpu", "target-features", "tune-cpu"})
      function.removeFnAttr(attribute);
    const bool kernel = compiler::is_kernel(function);
    function.setCallingConv(llvm::CallingConv::C);
    if (!kernel && !function.isDeclaration()) function.setLinkage(llvm::GlobalValue::InternalLinkage);
    for (llvm::User* user : function.users())
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(user)) call->setCallingConv(llvm::CallingConv::C);
  }
}

}  // namespace

class CheckedProgram::Code {
 public:
  using Kernel = void (*)(std::byte*, std::byte*, std::byte*, std::int32_t, std::int32_t, std::uint32_t,
                          std::int64_t, std::uintptr_t, std::uintptr_t);

  Code(const std::string& source, bool optimised) {
    static const bool initialised = [] {
      compiler::initialise_target();
      llvm::InitializeNativeTarget();
      llvm::InitializeNativeTargetAsmPrinter();
      return true;
    }();
    static_cast<void>(initialised);
    // No features of this processor: then vectors are accessed in ways that checks know.
    llvm::orc::JITTargetMachineBuilder machine_builder{llvm::Triple(llvm::sys::getProcessTriple())};
    const auto machine = value_of(machine_builder.createTargetMachine());
    auto context = std::make_unique<llvm::LLVMContext>();
    auto module = front_end(*context, source);
    footprints = compiler::find_footprints(*module);
    llvm::StripDebugInfo(*module);
    retarget(*module, *machine);
    Builtins(*module).define_all();
    run_passes(*module, machine.get(), optimised);
    insert_checks(*module);
    jit_ = value_of(llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(machine_builder).create());
    define("clique_item_values", &item_values);
    define("clique_check_access", &check_access);
    define("clique_check_pixel", &check_pixel);
    require(jit_->addIRModule(llvm::orc::ThreadSafeModule(std::move(module), std::move(context))));
  }

  Kernel kernel(const std::string& name) {
    if (name != name_) {
      kernel_ = value_of(jit_->lookup(name)).toPtr<Kernel>();
      name_ = name;
    }
    return kernel_;
  }

  std::vector<protocol::Footprint> footprints;

 private:
  static void require(llvm::Error error) {
    if (error) throw std::runtime_error(llvm::toString(std::move(error)));
  }

  template <typename T>
  void define(const char* name, T* what) {
    require(jit_->getMainJITDylib().define(llvm::orc::absoluteSymbols(
        {{jit_->mangleAndIntern(name),
          {llvm::orc::ExecutorAddr::fromPtr(what), llvm::JITSymbolFlags::Exported}}})));
  }

  std::unique_ptr<llvm::orc::LLJIT> jit_;
  std::string name_;  ///< of the kernel that ran last
  Kernel kernel_ = nullptr;
};

CheckedProgram::CheckedProgram(const std::string& source, bool optimised)
    : code_(std::make_unique<Code>(source, optimised)) {}
CheckedProgram::~CheckedProgram() = default;
CheckedProgram::CheckedProgram(CheckedProgram&&) noexcept = default;

const std::vector<protocol::Footprint>& CheckedProgram::footprints() const {
  return code_->footprints;
}

void CheckedProgram::run(const std::string& kernel, const Item& item, const Scalars& scalars,
                         const CheckedMemory& memory, const Checks& checks) {
  item_values = {item.global,     item.local,  item.group,  item.global_size,
                 item.local_size, item.groups, item.offset, item.enqueued_size};
  current_checks = &checks;
  code_->kernel(kernel)(memory.buffers[0], memory.buffers[1], memory.buffers[2], scalars.a, scalars.b,
                        scalars.c, scalars.d, 1, 2);
}

}  // namespace clique::test::division
