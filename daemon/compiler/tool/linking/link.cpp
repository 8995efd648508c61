#include "daemon/compiler/tool/linking/link.hpp"

#include <CL/cl.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Linker/Linker.h>

#include "daemon/compiler/tool/common/bitcode.hpp"

namespace clique::daemon::compiler {

std::unique_ptr<llvm::Module> link_objects(llvm::LLVMContext& context,
                                           const std::vector<ProgramBinary>& objects, std::string& log) {
  auto program = std::make_unique<llvm::Module>("program", context);
  llvm::Linker linker(*program);
  unsigned number = 0;
  for (const ProgramBinary& object : objects) {
    const std::string name = "input program " + std::to_string(number++);
    if (object.type != CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT &&
        object.type != CL_PROGRAM_BINARY_TYPE_LIBRARY) {
      log += "error: " + name + " is neither a compiled object nor a library\n";
      return nullptr;
    }
    auto module = read_bitcode(context, object.code, name);
    if (program->getDataLayout().isDefault()) {
      program->setDataLayout(module->getDataLayout());
      program->setTargetTriple(module->getTargetTriple());
    }
    // The linker has written a message with the symbol's name to the log.
    if (linker.linkInModule(std::move(module))) return nullptr;
  }
  return program;
}

}  // namespace clique::daemon::compiler
