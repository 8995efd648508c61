// Constant offsets of array indices.
#pragma once

namespace llvm {
class Module;
}

namespace clique::daemon::compiler {

/// Gives elements of an array whose indices differ by constants one address with an offset each, which loads
/// and stores add for nothing: indices of 32 bits that cannot be negative, as those into local memory by
/// local ids are. LLVM does so only where it finds the constant outermost. To be run after optimising.
void separate_index_offsets(llvm::Module& module);

}  // namespace clique::daemon::compiler
