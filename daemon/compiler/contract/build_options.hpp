// The part of the build options of clBuildProgram, clCompileProgram and clLinkProgram (OpenCL 3.0 API,
// sections 5.8.6 and 5.8.7) that is the same for every source language.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace clique::daemon::compiler {

/// An option that the call does not accept. what() is a complete line of the build log.
class InvalidOptions : public std::runtime_error {
 public:
  InvalidOptions(std::int32_t status, const std::string& why) : std::runtime_error(why), status_(status) {}
  /// CL_INVALID_BUILD_OPTIONS, CL_INVALID_COMPILER_OPTIONS or CL_INVALID_LINKER_OPTIONS.
  std::int32_t status() const { return status_; }

 private:
  std::int32_t status_;
};

/// Splits the options at white space. Quotes and backslashes work as in a shell.
std::vector<std::string> split_options(std::string_view text);

/// Whether the options contain `-x cuda`: the source is CUDA C++ (docs/extensions/cl_clique_cuda_source.md).
bool is_cuda_source(std::string_view options);

}  // namespace clique::daemon::compiler
