// Division and square root as exact as OpenCL asks, not as IEEE 754 does.
#pragma once

namespace llvm {
class Module;
}

namespace clique::daemon::compiler {

/// Single-precision divisions and square roots that may be off by a few units in the last place (2.5 and 3,
/// OpenCL C 3.0 table 42; the front end marks them) become the fast instructions of PTX, which LLVM would use
/// only where it may ignore everything. To be run after optimising, which cannot see through them.
/// @param flush_denorms the variants that treat denormals as zero
void relax_divisions(llvm::Module& module, bool flush_denorms);

}  // namespace clique::daemon::compiler
