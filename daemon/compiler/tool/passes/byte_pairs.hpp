// char2 and uchar2 as parameters and results, which LLVM 19 passes as 4 bytes, of which it takes the wrong
// ones.
#pragma once

namespace llvm {
class Module;
}

namespace clique::daemon::compiler {

/// Makes numbers of 16 bits of them, which lie in the same way. After all optimisations.
void pass_byte_pairs_as_numbers(llvm::Module& module);

}  // namespace clique::daemon::compiler
