#include "daemon/compiler/tool/passes/byte_vectors.hpp"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>

#include <array>
#include <vector>

namespace clique::daemon::compiler {

namespace {

constexpr unsigned kBytes = 16;
constexpr unsigned kHalf = kBytes / 2;
constexpr std::array<int, kBytes> kAll{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

bool is_byte_vector(const llvm::Type* type) {
  const auto* const vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector != nullptr && vector->getNumElements() == kBytes && vector->getElementType()->isIntegerTy(8);
}

void split(llvm::LoadInst& load) {
  llvm::IRBuilder<> builder(&load);
  llvm::Type* const type = llvm::FixedVectorType::get(builder.getInt8Ty(), kHalf);
  std::array<llvm::Value*, 2> halves{};
  for (unsigned i = 0; i < 2; ++i) {
    llvm::Value* const address =
        builder.CreateConstGEP1_64(builder.getInt8Ty(), load.getPointerOperand(), std::uint64_t{i} * kHalf);
    auto* const half = builder.CreateAlignedLoad(
        type, address, llvm::commonAlignment(load.getAlign(), i * kHalf), load.isVolatile());
    // Of a load's metadata, only these two matter for speed.
    half->copyMetadata(load, {llvm::LLVMContext::MD_invariant_load, llvm::LLVMContext::MD_nontemporal});
    halves[i] = half;
  }
  load.replaceAllUsesWith(builder.CreateShuffleVector(halves[0], halves[1], kAll));
  load.eraseFromParent();
}

void split(llvm::StoreInst& store) {
  llvm::IRBuilder<> builder(&store);
  for (unsigned i = 0; i < 2; ++i) {
    llvm::Value* const half = builder.CreateShuffleVector(
        store.getValueOperand(), llvm::ArrayRef(kAll).slice(std::size_t{i} * kHalf, kHalf));
    llvm::Value* const address =
        builder.CreateConstGEP1_64(builder.getInt8Ty(), store.getPointerOperand(), std::uint64_t{i} * kHalf);
    builder.CreateAlignedStore(half, address, llvm::commonAlignment(store.getAlign(), i * kHalf),
                               store.isVolatile());
  }
  store.eraseFromParent();
}

}  // namespace

void split_unaligned_byte_vectors(llvm::Module& module) {
  std::vector<llvm::LoadInst*> loads;
  std::vector<llvm::StoreInst*> stores;
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (auto* const load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
        if (is_byte_vector(load->getType()) && load->getAlign() < llvm::Align(kBytes)) loads.push_back(load);
      } else if (auto* const store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
        if (is_byte_vector(store->getValueOperand()->getType()) && store->getAlign() < llvm::Align(kBytes))
          stores.push_back(store);
      }
    }
  }
  for (llvm::LoadInst* const load : loads) split(*load);
  for (llvm::StoreInst* const store : stores) split(*store);
}

}  // namespace clique::daemon::compiler
