#pragma once

#include <llvm/IR/DataLayout.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Module.h>

#include <cstdint>

namespace clique::daemon::compiler {

/// The variable's size in bytes, with the padding between elements of an array of it.
inline std::uint64_t size_of(const llvm::GlobalVariable& variable) {
  return variable.getParent()->getDataLayout().getTypeAllocSize(variable.getValueType());
}

}  // namespace clique::daemon::compiler
