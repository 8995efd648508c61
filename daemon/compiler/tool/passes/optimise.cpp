#include "daemon/compiler/tool/passes/optimise.hpp"

#include <llvm/IR/Module.h>
#include <llvm/IR/PassInstrumentation.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/IPO/Internalize.h>
#include <llvm/Transforms/Scalar/CorrelatedValuePropagation.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include <ctime>

#include "daemon/compiler/tool/common/analyses.hpp"
#include "daemon/compiler/tool/common/is_kernel.hpp"
#include "daemon/compiler/tool/passes/access_checks.hpp"
#include "daemon/compiler/tool/passes/byte_pairs.hpp"
#include "daemon/compiler/tool/passes/byte_vectors.hpp"
#include "daemon/compiler/tool/passes/constants.hpp"
#include "daemon/compiler/tool/passes/division.hpp"
#include "daemon/compiler/tool/passes/group_limits.hpp"
#include "daemon/compiler/tool/passes/guarded_loads.hpp"
#include "daemon/compiler/tool/passes/hidden_values.hpp"
#include "daemon/compiler/tool/passes/index_offsets.hpp"
#include "daemon/compiler/tool/passes/inlining.hpp"
#include "daemon/compiler/tool/passes/local_memory.hpp"
#include "daemon/compiler/tool/passes/loop_branches.hpp"
#include "daemon/compiler/tool/passes/multiply_add.hpp"
#include "daemon/compiler/tool/passes/parameters.hpp"
#include "daemon/compiler/tool/passes/private_arrays.hpp"
#include "daemon/compiler/tool/passes/private_volatile.hpp"
#include "daemon/compiler/tool/passes/vector_comparisons.hpp"

namespace clique::daemon::compiler {

namespace {

/// Runs LLVM's passes, with the analyses that they need.
class PassRunner {
 public:
  PassRunner(llvm::TargetMachine* machine, llvm::PassInstrumentationCallbacks* callbacks)
      : builder_(machine, llvm::PipelineTuningOptions(), std::nullopt, callbacks), analyses_(builder_) {}

  llvm::PassBuilder& builder() { return builder_; }
  void run(llvm::ModulePassManager passes, llvm::Module& module) { passes.run(module, analyses_.modules); }
  const llvm::UniformityInfo& uniformity(llvm::Function& function) {
    return analyses_.functions.getResult<llvm::UniformityInfoAnalysis>(function);
  }

 private:
  llvm::PassBuilder builder_;
  Analyses analyses_;
};

/// The processor time that this thread has used. Unlike elapsed time, it does not depend on how busy the
/// machine is, so the code that is generated does not either.
std::chrono::nanoseconds processor_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

/// Gives all functions the same floating-point attributes. If they differed, inlining one function into
/// another would leave the stricter setting of the two.
void unify_attributes(llvm::Module& module, const Options& options) {
  const bool unsafe = options.unsafe_math || options.fast_relaxed_math;
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    for (const char* attribute : {"target-cpu", "target-features", "no-trapping-math", "unsafe-fp-math"})
      function.removeFnAttr(attribute);
    if (unsafe) function.addFnAttr("unsafe-fp-math", "true");
    if (options.flush_denorms())
      function.addFnAttr("denormal-fp-math-f32", "preserve-sign,preserve-sign");
    else
      function.removeFnAttr("denormal-fp-math-f32");
  }
  module.setModuleFlag(llvm::Module::Override, "nvvm-reflect-ftz",
                       llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(
                           llvm::Type::getInt32Ty(module.getContext()), options.flush_denorms() ? 1 : 0)));
}

/// Defines a constant by which the device library asks whether something holds.
void define_constant(llvm::Module& module, llvm::StringRef name, bool holds) {
  llvm::GlobalVariable* const asked = module.getGlobalVariable(name);
  if (asked == nullptr) return;
  asked->setInitializer(llvm::ConstantInt::get(asked->getValueType(), holds ? 1 : 0));
  asked->setConstant(true);
  asked->setLinkage(llvm::GlobalValue::InternalLinkage);
}

/// Tells the device library how the program's kernels are launched.
void define_launches(llvm::Module& module, const std::vector<Kernel>& kernels) {
  const bool uniform =
      std::all_of(kernels.begin(), kernels.end(), [](const Kernel& kernel) { return kernel.uniform_groups; });
  const bool in_parts =
      std::any_of(kernels.begin(), kernels.end(), [](const Kernel& kernel) { return kernel.in_parts; });
  define_constant(module, "__clique_uniform_groups", uniform);
  define_constant(module, "__clique_one_grid", uniform && !in_parts);
}

}  // namespace

void keep_what_kernels_need(llvm::Module& module) {
  // In C, a function that is only `inline` is defined in another file. OpenCL programs mean this definition.
  for (llvm::Function& function : module)
    if (function.hasAvailableExternallyLinkage()) function.setLinkage(llvm::GlobalValue::InternalLinkage);
  llvm::internalizeModule(module, [](const llvm::GlobalValue& value) {
    const auto* const function = llvm::dyn_cast<llvm::Function>(&value);
    return function != nullptr && is_kernel(*function);
  });
  llvm::ModulePassManager passes;
  passes.addPass(llvm::GlobalDCEPass());
  PassRunner(nullptr, nullptr).run(std::move(passes), module);
}

bool optimise(llvm::Module& module, llvm::TargetMachine& machine, const Options& options,
              std::vector<Kernel>& kernels, std::chrono::nanoseconds limit) {
  const auto deadline = processor_time() + limit;
  // Steps that the kernels' interface depends on.
  define_launches(module, kernels);
  keep_what_kernels_need(module);
  unify_attributes(module, options);

  if (options.check_footprints) inline_for_access_checks(module);
  relax_private_volatile(module);
  inline_users_of_hidden_values(module);
  {
    llvm::ModulePassManager passes;
    passes.addPass(llvm::AlwaysInlinerPass());
    passes.addPass(llvm::GlobalDCEPass());
    PassRunner(nullptr, nullptr).run(std::move(passes), module);
  }
  // Not before, or it would be done before they are simplified.
  inline_marked(module);
  rewrite_parameters(module, kernels, options.max_registers);
  bound_group_registers(module, kernels);

  // LLVM's optimisations.
  bool in_time = true;
  llvm::PassInstrumentationCallbacks callbacks;
  callbacks.registerShouldRunOptionalPassCallback([&](llvm::StringRef /*pass*/, const llvm::Any& /*unit*/) {
    in_time = in_time && processor_time() < deadline;
    return in_time;
  });
  PassRunner runner(&machine, &callbacks);
  runner.builder().registerLateLoopOptimizationsEPCallback(
      [](llvm::LoopPassManager& passes, llvm::OptimizationLevel optimisation) {
        if (optimisation.getSpeedupLevel() >= 2) passes.addPass(UnrollForPrivateArrays());
      });
  runner.builder().registerPeepholeEPCallback(
      [](llvm::FunctionPassManager& passes, llvm::OptimizationLevel optimisation) {
        if (optimisation.getSpeedupLevel() < 2) return;
        passes.addPass(MaskGuardedLoads());
        passes.addPass(llvm::SimplifyCFGPass());
      });
  // The ranges of local ids bound the iterations of loops over a work-group, even where their number is
  // unknown.
  runner.builder().registerVectorizerStartEPCallback(
      [](llvm::FunctionPassManager& passes, llvm::OptimizationLevel optimisation) {
        if (optimisation.getSpeedupLevel() < 2) return;
        passes.addPass(
            llvm::LoopUnrollPass(llvm::LoopUnrollOptions(static_cast<int>(optimisation.getSpeedupLevel()))
                                     .setUpperBound(true)
                                     .setRuntime(false)
                                     .setPartial(false)));
        passes.addPass(llvm::CorrelatedValuePropagationPass());
        passes.addPass(llvm::SimplifyCFGPass());
      });
  const auto level = options.opt_disable ? llvm::OptimizationLevel::O1 : llvm::OptimizationLevel::O3;
  runner.run(runner.builder().buildPerModuleDefaultPipeline(level), module);

  if (options.check_footprints) insert_access_checks(module, kernels);

  // What LLVM does not do, or has to be kept from undoing.
  promote_constants(module, [&](llvm::Function& function) -> const llvm::UniformityInfo& {
    return runner.uniformity(function);
  });
  separate_index_offsets(module);
  predicate_masked_loads(module);
  use_multiply_add(module);
  if (options.approximate_division()) relax_divisions(module, options.flush_denorms());
  split_vector_comparisons(module);
  split_unaligned_byte_vectors(module);
  pass_byte_pairs_as_numbers(module);
  place_local_variables(module, kernels);
  branch_back_to_loops(module);
  llvm::ModulePassManager cleanup;
  cleanup.addPass(llvm::GlobalDCEPass());
  PassRunner(nullptr, nullptr).run(std::move(cleanup), module);
  return in_time;
}

}  // namespace clique::daemon::compiler
