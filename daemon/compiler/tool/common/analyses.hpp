// The analyses that LLVM's passes need.
#pragma once

#include <llvm/Passes/PassBuilder.h>

namespace clique::daemon::compiler {

/// Managers of LLVM's analyses at all levels, which know each other. For one thread.
struct Analyses {
  explicit Analyses(llvm::PassBuilder& builder) {
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);
  }

  // Those of larger units refer to those of smaller ones, and are destroyed before them.
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
};

}  // namespace clique::daemon::compiler
