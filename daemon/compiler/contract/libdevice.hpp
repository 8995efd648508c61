#pragma once

#include <string>

namespace clique::daemon::compiler {

/// The prefix of the names of libdevice's functions.
inline constexpr const char* kLibdevicePrefix = "__nv_";

/// NVIDIA's library of mathematical functions, which belongs to the CUDA toolkit: what $CLIQUE_LIBDEVICE
/// says, else libdevice.10.bc of $CUDA_HOME, $CUDA_PATH or where packages put it. Empty where the node has
/// none: then the functions are libclc's.
std::string find_libdevice();

}  // namespace clique::daemon::compiler
