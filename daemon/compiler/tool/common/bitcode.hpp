// Modules as bytes and back.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "protocol/messages.hpp"

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace clique::daemon::compiler {

protocol::Bytes write_bitcode(const llvm::Module& module);

/// Throws std::runtime_error where the bytes are not a module. They are trusted as far as their checksum
/// goes: LLVM's reader does not stand every kind of damage.
std::unique_ptr<llvm::Module> read_bitcode(llvm::LLVMContext& context, std::span<const std::uint8_t> bytes,
                                           const std::string& name);

}  // namespace clique::daemon::compiler
