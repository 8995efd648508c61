// Why launches of a kernel cannot be divided.
#pragma once

#include <llvm/IR/Instruction.h>

#include <stdexcept>
#include <string>

namespace clique::daemon::compiler::footprints {

/// A reason why launches of the kernel must not be divided.
class Obstacle : public std::runtime_error {
 public:
  Obstacle(const std::string& why, const llvm::Instruction* where) : std::runtime_error(why), where_(where) {}
  const llvm::Instruction* where() const { return where_; }

 private:
  const llvm::Instruction* where_;
};

}  // namespace clique::daemon::compiler::footprints
