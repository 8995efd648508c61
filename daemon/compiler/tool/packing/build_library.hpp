// Building the device library, a part of Clique's build.
#pragma once

#include <string>
#include <vector>

#include "protocol/payload.hpp"

namespace clique::daemon::compiler {

/// Compiles one OpenCL C source of the device library to bitcode. Messages of the front end go to standard
/// error. Throws std::runtime_error if there are errors.
/// @param options build options of OpenCL C, such as -I
protocol::Bytes compile_library_source(const std::string& path, const std::string& options);

/// Merges compiled sources and libclc into one pack. Where both define a function, the pack lists Clique's
/// own definition first.
/// @param modules bitcode files of Clique's own definitions
/// @param fallback libclc's bitcode file; empty: none
protocol::Bytes pack_library(const std::vector<std::string>& modules, const std::string& fallback);

}  // namespace clique::daemon::compiler
