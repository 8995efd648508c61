#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "daemon/compiler/contract/request.hpp"

namespace clique::daemon::compiler {

/// NVRTC's options for the build options of a program in CUDA C++, which docs/extensions/
/// cl_clique_cuda_source.md lists.
struct NvrtcOptions {
  std::vector<std::string> words;  ///< without the architecture
  std::string architecture;        ///< what -arch= asks for, as "90a"; empty: the device's
  bool warnings_are_errors = false;
};

/// @param kind only programs that are built at once can be CUDA C++
/// Throws InvalidOptions.
NvrtcOptions nvrtc_options(Request::Kind kind, std::string_view text);

}  // namespace clique::daemon::compiler
