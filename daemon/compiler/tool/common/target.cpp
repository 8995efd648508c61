#include "daemon/compiler/tool/common/target.hpp"

#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Target/TargetMachine.h>

#include <array>
#include <charconv>
#include <stdexcept>

extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace clique::daemon::compiler {

namespace {

/// The processors that LLVM 19 knows and whose PTX runs on all later ones. sm_90a is not among them: its PTX
/// runs on compute capability 9.0 only.
constexpr std::array kProcessors{70U, 72U, 75U, 80U, 86U, 87U, 89U, 90U};

/// The oldest PTX version that knows all of these processors (CUDA 11.8), because it has the lowest demands
/// on the driver.
constexpr unsigned kPtx = 78;

}  // namespace

std::string Target::features() const {
  std::string result = "+ptx";
  result += std::to_string(ptx);
  return result;
}

Target target_for(const std::string& architecture) {
  unsigned number = 0;
  const char* const end = architecture.data() + architecture.size();
  if (!architecture.starts_with("sm_") || std::from_chars(architecture.data() + 3, end, number).ptr != end ||
      number < kProcessors.front())
    throw std::invalid_argument("no code can be generated for architecture '" + architecture +
                                "': supported are sm_70 and later");
  unsigned chosen = kProcessors.front();
  for (const unsigned processor : kProcessors)
    if (processor <= number) chosen = processor;
  return {"sm_" + std::to_string(chosen), kPtx};
}

void initialise_target(const std::vector<std::string>& settings) {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  std::vector<const char*> arguments{
      "clique-compiler",
      // A GPU has hundreds of registers and no branch prediction, so that far more unrolling pays than on
      // CPUs. Loops with an unknown number of iterations gain from unrolling a few, and lose if that takes
      // too many registers.
      "-unroll-threshold=3000", "-unroll-partial-threshold=400", "-unroll-max-count=4",
      // Loop strength reduction keeps one address per pointer in a register. Without it, ptxas computes
      // addresses when it loads, and has registers left to overlap iterations.
      "-disable-lsr"};
  for (const std::string& setting : settings) arguments.push_back(setting.c_str());
  llvm::cl::ParseCommandLineOptions(static_cast<int>(arguments.size()), arguments.data());
}

std::unique_ptr<llvm::TargetMachine> make_target_machine(const Target& target, const Options& options) {
  std::string error;
  const llvm::Target* const found = llvm::TargetRegistry::lookupTarget(kTriple, error);
  if (found == nullptr) throw std::runtime_error("this LLVM cannot generate PTX: " + error);
  llvm::TargetOptions settings;
  settings.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  settings.UnsafeFPMath = options.unsafe_math || options.fast_relaxed_math;
  return std::unique_ptr<llvm::TargetMachine>(
      found->createTargetMachine(kTriple, target.processor, target.features(), settings, llvm::Reloc::PIC_,
                                 std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

}  // namespace clique::daemon::compiler
