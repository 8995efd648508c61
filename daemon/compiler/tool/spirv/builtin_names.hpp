// The mangled names of OpenCL's built-in functions, which contain address spaces.
#pragma once

#include <string>
#include <string_view>

namespace clique::daemon::compiler {

/// NVPTX's number for one of SPIR's address spaces. Throws std::runtime_error if the device does not have it.
unsigned nvptx_space(unsigned spir);

/// Translates the name of a built-in function from SPIR's address spaces to the name that it has in the
/// device library. The C++ ABI replaces repeated parts by numbered references, so that removing an address
/// space changes other parts of the name, too. Names of another form are returned as they are.
std::string nvptx_builtin_name(std::string_view spir);

}  // namespace clique::daemon::compiler
