#include "daemon/compiler/tool/passes/printf_lowering.hpp"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <algorithm>
#include <optional>
#include <set>
#include <stdexcept>

#include "daemon/compiler/contract/printf_format.hpp"
#include "daemon/compiler/library/abi.h"
#include "daemon/compiler/tool/common/address_spaces.hpp"
#include "daemon/compiler/tool/common/analyses.hpp"

namespace clique::daemon::compiler {

namespace {

/// Index for a string that is not a constant of the program; format_printf() prints it as "(null)".
constexpr std::uint64_t kNoString = ~std::uint64_t{0};

/// The calls in program order.
std::vector<llvm::CallInst*> printf_calls_of(llvm::Function& printf) {
  std::vector<llvm::CallInst*> calls;
  for (llvm::Function& function : *printf.getParent())
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* const call = llvm::dyn_cast<llvm::CallInst>(&instruction);
          call != nullptr && call->getCalledFunction() == &printf)
        calls.push_back(call);
  return calls;
}

/// Replaces private variables by values, so that formats and strings that a program keeps in variables are
/// recognised.
void promote_variables(const std::set<llvm::Function*>& functions) {
  llvm::PassBuilder builder;
  Analyses analyses(builder);
  llvm::SROAPass pass(llvm::SROAOptions::PreserveCFG);
  for (llvm::Function* const function : functions) pass.run(*function, analyses.functions);
}

std::optional<std::string> constant_string(const llvm::Value* value) {
  llvm::StringRef text;
  if (!llvm::getConstantStringInfo(value, text)) return std::nullopt;
  return text.str();
}

std::uint64_t index_in(std::vector<std::string>& list, const std::string& text) {
  const auto found = std::find(list.begin(), list.end(), text);
  if (found != list.end()) return static_cast<std::uint64_t>(found - list.begin());
  list.push_back(text);
  return list.size() - 1;
}

/// Replaces one call.
class Lowering {
 public:
  Lowering(llvm::CallInst& call, ProgramBinary& program)
      : call_(call), program_(program), builder_(&call), long_(builder_.getInt64Ty()) {}

  void run() {
    const auto format = constant_string(call_.getArgOperand(0));
    if (!format)
      throw std::runtime_error("printf in '" + call_.getFunction()->getName().str() +
                               "': the format must be a string literal");
    collect_arguments(*format);
    write_record(index_in(program_.formats, *format));
  }

 private:
  void collect_arguments(const std::string& format) {
    const auto pieces = parse_printf_format(format);
    auto piece = pieces.begin();
    for (unsigned i = 1; i < call_.arg_size(); ++i) {
      const bool known = piece != pieces.end() && piece->conversion != 0;
      add(call_.getArgOperand(i), known ? *piece : PrintfPiece{});
      if (known) ++piece;
    }
  }

  void add(llvm::Value* value, const PrintfPiece& piece) {
    if (piece.conversion == 's') {
      slots_.push_back(string_index(value));
      return;
    }
    const auto* const vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
    if (vector == nullptr) {
      slots_.push_back(widened(value));
      return;
    }
    // A vector of three may be passed with a fourth element.
    const unsigned elements =
        piece.elements == 1 ? vector->getNumElements() : std::min(piece.elements, vector->getNumElements());
    for (unsigned i = 0; i < elements; ++i)
      slots_.push_back(widened(builder_.CreateExtractElement(value, i)));
  }

  llvm::Value* widened(llvm::Value* value) {
    llvm::Type* const type = value->getType();
    if (type->isPointerTy()) return builder_.CreatePtrToInt(value, long_);
    if (type->isFloatingPointTy())
      return builder_.CreateBitCast(builder_.CreateFPExt(value, builder_.getDoubleTy()), long_);
    if (type->isIntegerTy()) return builder_.CreateSExtOrTrunc(value, long_);
    throw std::runtime_error("printf in '" + call_.getFunction()->getName().str() +
                             "': an argument is a structure; pass its members");
  }

  /// The index of a string in `program_`. It is computed at run time if the program chooses among constants.
  llvm::Value* string_index(llvm::Value* value) {
    if (const auto text = constant_string(value)) return builder_.getInt64(index_in(program_.strings, *text));
    if (auto* const choice = llvm::dyn_cast<llvm::SelectInst>(value)) {
      llvm::Value* const first = string_index(choice->getTrueValue());
      return builder_.CreateSelect(choice->getCondition(), first, string_index(choice->getFalseValue()));
    }
    if (auto* const phi = llvm::dyn_cast<llvm::PHINode>(value)) return string_index(*phi);
    return builder_.getInt64(kNoString);
  }

  llvm::Value* string_index(llvm::PHINode& phi) {
    auto* const made = llvm::PHINode::Create(long_, phi.getNumIncomingValues(), "", phi.getIterator());
    for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
      const auto text = constant_string(phi.getIncomingValue(i));
      made->addIncoming(builder_.getInt64(text ? index_in(program_.strings, *text) : kNoString),
                        phi.getIncomingBlock(i));
    }
    return made;
  }

  void write_record(std::uint64_t format) {
    llvm::Module& module = *call_.getModule();
    llvm::Type* const pointer = llvm::PointerType::get(module.getContext(), kGlobalSpace);
    const auto reserve = module.getOrInsertFunction("__clique_printf_reserve", pointer, builder_.getInt32Ty(),
                                                    builder_.getInt32Ty());
    const std::size_t size = sizeof(clique_printf_record) + 8 * slots_.size();
    llvm::Value* const arguments =
        builder_.CreateCall(reserve, {builder_.getInt32(static_cast<std::uint32_t>(format)),
                                      builder_.getInt32(static_cast<std::uint32_t>(size))});
    llvm::Value* const fits = builder_.CreateIsNotNull(arguments);
    call_.replaceAllUsesWith(builder_.CreateSelect(fits, builder_.getInt32(0), builder_.getInt32(~0U)));
    if (!slots_.empty()) {
      builder_.SetInsertPoint(llvm::SplitBlockAndInsertIfThen(fits, call_.getIterator(), false));
      for (std::size_t i = 0; i < slots_.size(); ++i)
        builder_.CreateAlignedStore(slots_[i], builder_.CreateConstGEP1_64(long_, arguments, i),
                                    llvm::Align(8));
    }
    call_.eraseFromParent();
  }

  llvm::CallInst& call_;
  ProgramBinary& program_;
  llvm::IRBuilder<> builder_;
  llvm::Type* long_;
  std::vector<llvm::Value*> slots_;
};

}  // namespace

void lower_printf(llvm::Module& module, ProgramBinary& program) {
  llvm::Function* const printf = module.getFunction("printf");
  if (printf == nullptr || !printf->isDeclaration()) return;
  std::set<llvm::Function*> callers;
  for (llvm::CallInst* const call : printf_calls_of(*printf)) callers.insert(call->getFunction());
  promote_variables(callers);
  for (llvm::CallInst* const call : printf_calls_of(*printf)) Lowering(*call, program).run();
  if (printf->use_empty()) printf->eraseFromParent();
}

}  // namespace clique::daemon::compiler
