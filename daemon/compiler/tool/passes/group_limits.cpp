#include "daemon/compiler/tool/passes/group_limits.hpp"

#include <llvm/IR/ConstantRange.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/Module.h>

#include <array>

namespace clique::daemon::compiler {

namespace {

/// Maximum work-items of a work-group in each dimension, on every GPU so far.
constexpr std::array<std::uint32_t, 3> kMostItems{1024, 1024, 64};

struct Register {
  llvm::Intrinsic::ID local_id;
  llvm::Intrinsic::ID local_size;
};
constexpr std::array<Register, 3> kRegisters{
    Register{llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x, llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_x},
    Register{llvm::Intrinsic::nvvm_read_ptx_sreg_tid_y, llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_y},
    Register{llvm::Intrinsic::nvvm_read_ptx_sreg_tid_z, llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_z}};

/// Uses an attribute because metadata would be lost when calls are merged.
void set_range(llvm::CallInst& call, std::uint32_t first, std::uint32_t end) {
  call.addRangeRetAttr(llvm::ConstantRange(llvm::APInt(32, first), llvm::APInt(32, end)));
}

void bound(llvm::IntrinsicInst& call, const Kernel& kernel) {
  const bool required = kernel.required_group[0] != 0;
  // Without uniform work-groups, the last ones of an NDRange may be smaller.
  const bool exact = required && kernel.uniform_groups;
  for (std::size_t i = 0; i < kRegisters.size(); ++i) {
    const std::uint32_t most = required ? kernel.required_group[i] : kMostItems[i];
    if (call.getIntrinsicID() == kRegisters[i].local_id) set_range(call, 0, most);
    if (call.getIntrinsicID() == kRegisters[i].local_size) {
      if (exact)
        call.replaceAllUsesWith(llvm::ConstantInt::get(call.getType(), most));
      else
        set_range(call, 1, most + 1);
    }
  }
}

}  // namespace

void bound_group_registers(llvm::Module& module, const std::vector<Kernel>& kernels) {
  for (const Kernel& kernel : kernels) {
    llvm::Function* const function = module.getFunction(kernel.name);
    if (function == nullptr) continue;
    for (llvm::Instruction& instruction : llvm::instructions(*function))
      if (auto* const call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) bound(*call, kernel);
  }
}

}  // namespace clique::daemon::compiler
