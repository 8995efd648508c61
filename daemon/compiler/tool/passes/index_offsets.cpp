#include "daemon/compiler/tool/passes/index_offsets.hpp"

#include <llvm/Analysis/InstSimplifyFolder.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace clique::daemon::compiler {

namespace {

/// Maximum depth of nested sums: the same values may occur many times in them.
constexpr unsigned kDepth = 8;

/// The factor of each value, by the value's number.
using Factors = std::map<std::size_t, std::uint32_t>;

/// A sum of values with factors and of a constant, modulo 2^32.
struct Sum {
  Factors factors;
  std::uint32_t constant = 0;
};

/// An index of an address computation: the factors of a sum without its constant or, if it is not such a sum,
/// the value.
struct VariableIndex {
  Factors factors;
  llvm::Value* value = nullptr;
  bool operator<(const VariableIndex& other) const {
    return std::tie(factors, value) < std::tie(other.factors, other.value);
  }
};

/// What addresses that only differ by constants have in common: the array, its element type and the indices.
using Key = std::tuple<llvm::Value*, llvm::Type*, std::vector<VariableIndex>>;

struct Element {
  llvm::GetElementPtrInst* address = nullptr;
  /// The constant part of the address, in bytes.
  std::uint64_t offset = 0;
};

class Separation {
 public:
  explicit Separation(llvm::Function& function) : layout_(function.getDataLayout()) {
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* const address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction)) note(*address);
  }

  void run() const {
    for (const auto& [key, elements] : elements_) {
      const llvm::GetElementPtrInst& first = *elements.front().address;
      const bool same = std::all_of(elements.begin(), elements.end(), [&](const Element& element) {
        return std::equal(first.idx_begin(), first.idx_end(), element.address->idx_begin());
      });
      if (same) continue;
      for (const Element& element : elements) separate(element, std::get<2>(key));
    }
  }

 private:
  void note(llvm::GetElementPtrInst& address) {
    if (address.getType()->isVectorTy() || address.hasAllConstantIndices()) return;
    std::uint64_t offset = 0;
    std::vector<VariableIndex> indices;
    for (auto type = llvm::gep_type_begin(address); type != llvm::gep_type_end(address); ++type) {
      Sum sum;
      if (type.isSequential() && take_apart(*type.getOperand(), address, sum)) {
        indices.push_back({sum.factors, nullptr});
        offset += sum.constant * type.getSequentialElementStride(layout_).getFixedValue();
      } else {
        indices.push_back({{}, type.getOperand()});
      }
    }
    elements_[{address.getPointerOperand(), address.getSourceElementType(), indices}].push_back(
        {&address, offset});
  }

  /// Splits an index into a sum.
  /// @returns false if the index may be negative; then, subtracting the constant in 32 bits and adding it
  /// again in 64 bits could change the address
  bool take_apart(llvm::Value& index, const llvm::Instruction& at, Sum& sum) {
    using namespace llvm::PatternMatch;
    if (match(&index, m_Zero())) return true;
    llvm::Value* narrow = nullptr;
    if (!match(&index, m_ZExtOrSExt(m_Value(narrow))) || !narrow->getType()->isIntegerTy(32)) return false;
    const auto* const extension = llvm::dyn_cast<llvm::PossiblyNonNegInst>(&index);
    if ((extension == nullptr || !extension->hasNonNeg()) &&
        !llvm::isKnownNonNegative(narrow, llvm::SimplifyQuery(layout_, &at)))
      return false;
    add(*narrow, 1, kDepth, sum);
    return static_cast<std::int32_t>(sum.constant) >= 0;
  }

  void add(llvm::Value& value, std::uint32_t factor, unsigned depth, Sum& sum) {
    using namespace llvm::PatternMatch;
    llvm::Value* left = nullptr;
    llvm::Value* right = nullptr;
    const llvm::APInt* constant = nullptr;
    if (match(&value, m_APInt(constant))) {
      sum.constant += factor * static_cast<std::uint32_t>(constant->getZExtValue());
    } else if (depth > 0 && match(&value, m_AddLike(m_Value(left), m_Value(right)))) {
      add(*left, factor, depth - 1, sum);
      add(*right, factor, depth - 1, sum);
    } else if (depth > 0 && match(&value, m_Shl(m_Value(left), m_APInt(constant))) && constant->ult(32)) {
      add(*left, factor << constant->getZExtValue(), depth - 1, sum);
    } else if (depth > 0 && match(&value, m_Mul(m_Value(left), m_APInt(constant)))) {
      add(*left, factor * static_cast<std::uint32_t>(constant->getZExtValue()), depth - 1, sum);
    } else {
      const std::size_t number = numbers_.try_emplace(&value, values_.size()).first->second;
      if (number == values_.size()) values_.push_back(&value);
      sum.factors[number] += factor;
    }
  }

  void separate(const Element& element, const std::vector<VariableIndex>& indices) const {
    llvm::GetElementPtrInst& address = *element.address;
    llvm::SmallVector<llvm::WeakTrackingVH, 4> unused(address.idx_begin(), address.idx_end());
    llvm::IRBuilder<llvm::InstSimplifyFolder> builder(address.getContext(),
                                                      llvm::InstSimplifyFolder(layout_));
    builder.SetInsertPoint(&address);
    std::vector<llvm::Value*> remaining;
    for (const VariableIndex& index : indices) {
      if (index.value != nullptr) {
        remaining.push_back(index.value);
        continue;
      }
      llvm::Value* sum = builder.getInt32(0);
      for (const auto& [number, factor] : index.factors)
        sum = builder.CreateAdd(sum, builder.CreateMul(values_[number], builder.getInt32(factor)));
      remaining.push_back(builder.CreateSExt(sum, builder.getInt64Ty()));
    }
    llvm::Value* const base =
        builder.CreateGEP(address.getSourceElementType(), address.getPointerOperand(), remaining);
    address.replaceAllUsesWith(builder.CreatePtrAdd(base, builder.getInt64(element.offset)));
    address.eraseFromParent();
    llvm::RecursivelyDeleteTriviallyDeadInstructionsPermissive(unused);
  }

  const llvm::DataLayout& layout_;
  std::map<llvm::Value*, std::size_t> numbers_;
  std::vector<llvm::Value*> values_;
  std::map<Key, std::vector<Element>> elements_;
};

}  // namespace

void separate_index_offsets(llvm::Module& module) {
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) Separation(function).run();
}

}  // namespace clique::daemon::compiler
