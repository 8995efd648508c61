// Build options of programs in CUDA C++.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "daemon/compiler/contract/request.hpp"

namespace clique::daemon::compiler {

/// NVRTC's options for the build options of a program in CUDA C++. docs/extensions/cl_clique_cuda_source.md
/// lists the build options.
struct NvrtcOptions {
  std::vector<std::string> words;  ///< options for NVRTC, without the architecture
  std::string architecture;        ///< the value of -arch=, such as "90a"; empty: that of the device
  bool warnings_are_errors = false;
};

/// Translates build options. Throws InvalidOptions if an option is unknown, or if `kind` is not Build: CUDA
/// C++ cannot be compiled and linked separately.
NvrtcOptions nvrtc_options(Request::Kind kind, std::string_view text);

}  // namespace clique::daemon::compiler
