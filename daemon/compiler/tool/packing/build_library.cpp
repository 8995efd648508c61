#include "daemon/compiler/tool/packing/build_library.hpp"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Target/TargetMachine.h>

#include <filesystem>
#include <stdexcept>

#include "daemon/compiler/contract/language_features.hpp"
#include "daemon/compiler/contract/libdevice.hpp"
#include "daemon/compiler/tool/common/analyses.hpp"
#include "daemon/compiler/tool/common/bitcode.hpp"
#include "daemon/compiler/tool/common/target.hpp"
#include "daemon/compiler/tool/frontend/frontend.hpp"
#include "daemon/compiler/tool/packing/pack.hpp"

namespace clique::daemon::compiler {

namespace {

/// The library may use what the newest processor has, if it asks __nvvm_reflect("__CUDA_ARCH") first.
constexpr const char* kLibraryArchitecture = "sm_90";

/// Ranks of definitions in the pack. The lowest one is preferred.
constexpr std::uint32_t kOwnRank = 0;
constexpr std::uint32_t kLibclcRank = 1;

std::unique_ptr<llvm::MemoryBuffer> read_file(const std::string& path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file) throw std::runtime_error("cannot read " + path + ": " + file.getError().message());
  return std::move(*file);
}

/// Makes the functions small. Does so without a target machine, whose passes would already evaluate
/// __nvvm_reflect.
void simplify(llvm::Module& module) {
  llvm::PassBuilder builder;
  Analyses analyses(builder);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O1).run(module, analyses.modules);
}

/// Removes the attributes that the program decides when the library is linked into it.
void forget_target(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (const char* attribute : {"target-cpu", "target-features", "no-trapping-math", "unsafe-fp-math",
                                  "stack-protector-buffer-size"})
      function.removeFnAttr(attribute);
}

}  // namespace

protocol::Bytes compile_library_source(const std::string& path, const std::string& options_text) {
  Source source;
  source.name = std::filesystem::path(path).filename();
  source.reads_disk = true;
  source.text = read_file(path)->getBuffer().str();
  source.extensions = language_extensions();
  source.library = true;
  Options options = parse_options(Request::Kind::Build, "-cl-std=CL3.0 " + options_text);
  options.preprocessor.push_back("-I" + std::filesystem::absolute(path).parent_path().string());

  llvm::LLVMContext context;
  std::string log;
  const auto module = compile_source(context, source, options, target_for(kLibraryArchitecture), log);
  if (!log.empty()) llvm::errs() << log;
  if (module == nullptr) throw std::runtime_error("cannot compile " + path + "; the messages above say why");
  simplify(*module);
  forget_target(*module);
  return write_bitcode(*module);
}

protocol::Bytes pack_library(const std::vector<std::string>& modules, const std::string& fallback) {
  const auto layout = make_target_machine(target_for(kLibraryArchitecture), {})->createDataLayout();
  std::vector<PackMember> members;
  const auto add = [&](const std::string& path, std::uint32_t rank) {
    llvm::LLVMContext context;
    llvm::SMDiagnostic problem;
    const auto module = llvm::parseIRFile(path, problem, context);
    if (module == nullptr)
      throw std::runtime_error("cannot read " + path + ": " + problem.getMessage().str());
    module->setDataLayout(layout);
    module->setTargetTriple(kTriple);
    forget_target(*module);
    auto parts = split_module(*module, "__clique_" + std::filesystem::path(path).stem().string(), rank);
    members.insert(members.end(), std::make_move_iterator(parts.begin()),
                   std::make_move_iterator(parts.end()));
  };
  for (const std::string& path : modules) add(path, kOwnRank);
  if (!fallback.empty()) add(fallback, kLibclcRank);
  prune(members, kLibdevicePrefix);
  return make_pack(std::move(members));
}

}  // namespace clique::daemon::compiler
