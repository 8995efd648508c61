// The GPU architectures that code is generated for.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "daemon/compiler/tool/common/options.hpp"

namespace llvm {
class TargetMachine;
}

namespace clique::daemon::compiler {

inline constexpr const char* kTriple = "nvptx64-nvidia-cuda";

struct Target {
  std::string processor;  ///< such as "sm_90"
  unsigned ptx = 0;       ///< version of the PTX ISA, times ten
  /// LLVM's name of the PTX version, such as "+ptx78".
  std::string features() const;
};

/// The target for a device of `architecture` ("sm_XY"): the newest known processor that is not newer than the
/// device. The driver can compile PTX for any later one. Throws std::invalid_argument if the architecture is
/// too old or not one.
Target target_for(const std::string& architecture);

/// Initialises LLVM. Call it once per process, before anything else of LLVM.
/// @param settings options of LLVM itself, for experiments
void initialise_target(const std::vector<std::string>& settings = {});

/// LLVM's code generator for the target; never null. Throws std::runtime_error if this LLVM has none for PTX.
std::unique_ptr<llvm::TargetMachine> make_target_machine(const Target& target, const Options& options);

}  // namespace clique::daemon::compiler
