#pragma once

#include "daemon/compiler/contract/request.hpp"

namespace clique::daemon::compiler {

/// Builds a program in CUDA C++ with the node's NVRTC. Its status is that of Result, or
/// CL_COMPILER_NOT_AVAILABLE, with what to do in the log, where the node has none. For one thread, in
/// clique-compiler: NVRTC may crash, or never come to an end.
Result compile_cuda(const Request& request);

}  // namespace clique::daemon::compiler
