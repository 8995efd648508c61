#include "daemon/compiler/tool/common/bitcode.hpp"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/Module.h>

#include <stdexcept>

namespace clique::daemon::compiler {

protocol::Bytes write_bitcode(const llvm::Module& module) {
  llvm::SmallVector<char, 0> buffer;
  llvm::BitcodeWriter writer(buffer);
  writer.writeModule(module);
  writer.writeStrtab();
  return {buffer.begin(), buffer.end()};
}

std::unique_ptr<llvm::Module> read_bitcode(llvm::LLVMContext& context, std::span<const std::uint8_t> bytes,
                                           const std::string& name) {
  const llvm::MemoryBufferRef buffer(
      llvm::StringRef(reinterpret_cast<const char*>(bytes.data()), bytes.size()), name);
  auto module = llvm::parseBitcodeFile(buffer, context);
  if (!module) throw std::runtime_error(name + ": " + llvm::toString(module.takeError()));
  return std::move(*module);
}

}  // namespace clique::daemon::compiler
