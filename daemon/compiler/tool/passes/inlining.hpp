// Inlining of the program's functions.
//
// A call costs more on a GPU than elsewhere: private arrays that it gets pointers to lie in memory instead of
// registers, accesses through its pointers are generic, and each kernel uses as many registers as the
// function may need for any of its callers, so that fewer work-items run at a time. NVIDIA's compilers inline
// nearly everything, and kernels are written for that.
#pragma once

namespace llvm {
class Module;
}

namespace clique::daemon::compiler {

/// Marks the program's functions that inline_marked() inlines: all except those that are declared noinline or
/// that a very large kernel calls. Before the device library is linked, for whose functions LLVM decides.
void mark_inlined(llvm::Module& module);

/// Has LLVM inline all calls of the marked functions, each after it has been simplified.
void inline_marked(llvm::Module& module);

}  // namespace clique::daemon::compiler
