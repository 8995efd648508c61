// Works around an error in LLVM 19: it passes char2 and uchar2 parameters and results of functions as 4
// bytes, and then reads the wrong ones.
#pragma once

namespace llvm {
class Module;
}

namespace clique::daemon::compiler {

/// Passes char2 and uchar2 as 16-bit integers, which have the same layout. Run after all optimisations.
void pass_byte_pairs_as_numbers(llvm::Module& module);

}  // namespace clique::daemon::compiler
