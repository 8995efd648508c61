// Building programs in CUDA C++.
#pragma once

#include "daemon/compiler/contract/request.hpp"

namespace clique::daemon::compiler {

/// Builds a program in CUDA C++ with the node's NVRTC. If the node has none, the status is
/// CL_COMPILER_NOT_AVAILABLE and the log says what to install. Call it in clique-compiler only, from one
/// thread: NVRTC may crash or never return.
Result compile_cuda(const Request& request);

}  // namespace clique::daemon::compiler
