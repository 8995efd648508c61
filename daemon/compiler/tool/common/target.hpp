// The processors that code is made for.
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
  std::string processor;  ///< "sm_90"
  unsigned ptx = 0;       ///< version of the PTX ISA, times ten
  /// "+ptx78", as LLVM wants it.
  std::string features() const;
};

/// What to compile for, so that it runs on a device of `architecture` ("sm_XY"): the newest processor that is
/// known and not newer than it; the driver compiles PTX for any later one. Throws std::invalid_argument.
Target target_for(const std::string& architecture);

/// Once per process, before anything else of LLVM.
/// @param settings of LLVM's own, as for its tools, for experiments
void initialise_target(const std::vector<std::string>& settings = {});

/// Never null.
std::unique_ptr<llvm::TargetMachine> make_target_machine(const Target& target, const Options& options);

}  // namespace clique::daemon::compiler
