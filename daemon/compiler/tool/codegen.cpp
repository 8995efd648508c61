#include "daemon/compiler/tool/codegen.hpp"

#include <llvm/ADT/SmallString.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <stdexcept>

namespace clique::daemon::compiler {

std::string generate_ptx(llvm::Module& module, llvm::TargetMachine& machine) {
  std::string broken;
  llvm::raw_string_ostream why(broken);
  if (llvm::verifyModule(module, &why)) throw std::runtime_error("the compiler made invalid code: " + broken);
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    throw std::runtime_error("this LLVM cannot write PTX");
  passes.run(module);
  return std::string(text.str());
}

}  // namespace clique::daemon::compiler
