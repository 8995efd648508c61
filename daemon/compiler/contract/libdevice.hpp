// Finding libdevice, NVIDIA's library of mathematical functions, which belongs to the CUDA toolkit.
#pragma once

#include <string>

namespace clique::daemon::compiler {

/// The prefix of the names of libdevice's functions.
inline constexpr const char* kLibdevicePrefix = "__nv_";

/// Path of the node's libdevice: $CLIQUE_LIBDEVICE if that is set, otherwise libdevice.10.bc under
/// $CUDA_HOME, $CUDA_PATH or the folders that packages use. Empty if the node has none; programs then get
/// libclc's functions.
std::string find_libdevice();

}  // namespace clique::daemon::compiler
