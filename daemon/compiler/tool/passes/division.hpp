// Division and square root with the accuracy that OpenCL requires, which is less than that of IEEE 754.
#pragma once

namespace llvm {
class Module;
}

namespace clique::daemon::compiler {

/// Replaces single-precision divisions and square roots by PTX's fast instructions. OpenCL allows errors of
/// 2.5 and 3 units in the last place (OpenCL C 3.0, table 42); the front end marks such operations. LLVM
/// itself uses these instructions only if all restrictions on floating-point mathematics are lifted. Run
/// after LLVM's optimisations, which cannot optimise the replacements.
/// @param flush_denorms use the variants that treat denormal numbers as zero
void relax_divisions(llvm::Module& module, bool flush_denorms);

}  // namespace clique::daemon::compiler
