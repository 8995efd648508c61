#pragma once

namespace llvm {
class Module;
}

namespace clique::daemon::compiler {

/// Under -cl-fast-relaxed-math the errors of functions may be as large as those of their native variants
/// (OpenCL C 3.0, table 46): has the program call these. To be run before linking the device library.
void use_native_functions(llvm::Module& module);

}  // namespace clique::daemon::compiler
