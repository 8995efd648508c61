#include "daemon/compiler/tool/passes/codegen.hpp"

#include <llvm/ADT/SmallString.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <stdexcept>
#include <string_view>

namespace clique::daemon::compiler {

namespace {

/// Removes .ftz from instructions for half. -cl-denorms-are-zero only concerns float and double, but LLVM has
/// a single switch for float and half.
void keep_denormal_halves(std::string& ptx) {
  constexpr std::string_view kFlush = ".ftz";
  constexpr std::string_view kOfHalf = ".ftz.f16";
  for (std::size_t at = 0; (at = ptx.find(kOfHalf, at)) != std::string::npos;) ptx.erase(at, kFlush.size());
}

}  // namespace

std::string generate_ptx(llvm::Module& module, llvm::TargetMachine& machine) {
  std::string broken;
  llvm::raw_string_ostream why(broken);
  if (llvm::verifyModule(module, &why))
    throw std::runtime_error(
        "clique-compiler made invalid code of this program, which is an error in Clique: " + broken);
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    throw std::runtime_error("this LLVM cannot write PTX");
  passes.run(module);
  std::string ptx(text.str());
  keep_denormal_halves(ptx);
  return ptx;
}

}  // namespace clique::daemon::compiler
