// Accesses to 16 bytes at once, which LLVM 19 makes one of 128 bits whatever their alignment is.
#pragma once

namespace llvm {
class Module;
}

namespace clique::daemon::compiler {

/// Makes loads and stores of char16 and uchar16 whose address may be no multiple of 16 two of 8 bytes. After
/// all optimisations.
void split_unaligned_byte_vectors(llvm::Module& module);

}  // namespace clique::daemon::compiler
