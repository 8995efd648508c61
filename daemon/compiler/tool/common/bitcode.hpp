// LLVM modules as bytes.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "protocol/payload.hpp"

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace clique::daemon::compiler {

/// The module as LLVM bitcode.
protocol::Bytes write_bitcode(const llvm::Module& module);

/// The reverse of write_bitcode(). Throws std::runtime_error if the bytes are not a module. LLVM's reader may
/// crash on damaged bytes, so untrusted ones need a checksum.
/// @param name of the module, for messages
std::unique_ptr<llvm::Module> read_bitcode(llvm::LLVMContext& context, std::span<const std::uint8_t> bytes,
                                           const std::string& name);

}  // namespace clique::daemon::compiler
