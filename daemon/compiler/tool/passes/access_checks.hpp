// Checks before the accesses of kernels, which compare them with what the client expects of a part of a
// divided launch (icd/core/division).
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <functional>
#include <vector>

#include "daemon/compiler/contract/program_binary.hpp"

namespace llvm {
class Function;
class Module;
class Value;
}  // namespace llvm

namespace clique::daemon::compiler {

/// An access to memory, before which a builder inserts.
struct AccessToCheck {
  llvm::Value* pointer = nullptr;
  llvm::Value* size = nullptr;  ///< 64 bits; a number of bytes, or 0 if there is no access
  bool writes = false;          ///< whether it writes, or does both
};

/// Has `emit` insert a check before each access of the function to memory that is neither private nor local,
/// and neither a variable of the program nor a parameter. Functions that it calls have to be visited, too.
/// Throws std::runtime_error if an instruction may access memory in a way that is not known.
void insert_access_checks(llvm::Function& function,
                          const std::function<void(llvm::IRBuilder<>&, const AccessToCheck&)>& emit);

/// Prepares a program whose kernels are to check their accesses: they get the hidden value of
/// Hidden::AccessChecks, and call the device library's __clique_check_pixel before they read or write a pixel
/// at coordinates that are integers. Run before the device library is linked.
void ask_for_access_checks(llvm::Module& module);

/// Marks all functions of a program that ask_for_access_checks() has prepared as always inlined: only kernels
/// have hidden values. Run after the device library is linked.
void inline_for_access_checks(llvm::Module& module);

/// Inserts checks into the kernels of such a program, which call the device library's __clique_check_access.
/// Run after LLVM's optimisations, so that the accesses are those of the code that runs. Throws as the
/// function above does.
void insert_access_checks(llvm::Module& module, const std::vector<Kernel>& kernels);

}  // namespace clique::daemon::compiler
