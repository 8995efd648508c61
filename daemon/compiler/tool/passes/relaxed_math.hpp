// Mathematical functions under -cl-fast-relaxed-math.
#pragma once

namespace llvm {
class Module;
}

namespace clique::daemon::compiler {

/// Replaces calls of mathematical functions by their native variants, whose errors -cl-fast-relaxed-math
/// allows (OpenCL C 3.0, table 46). Run before linking the device library.
void use_native_functions(llvm::Module& module);

}  // namespace clique::daemon::compiler
