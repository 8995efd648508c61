// Works around an error in LLVM 19: it makes loads and stores of 16 bytes a single 128-bit access, whatever
// their alignment is.
#pragma once

namespace llvm {
class Module;
}

namespace clique::daemon::compiler {

/// Splits loads and stores of char16 and uchar16 into two of 8 bytes if their address may not be a multiple
/// of 16. Run after all optimisations.
void split_unaligned_byte_vectors(llvm::Module& module);

}  // namespace clique::daemon::compiler
