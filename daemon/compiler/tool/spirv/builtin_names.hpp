// The mangled names of OpenCL's builtin functions.
#pragma once

#include <string>
#include <string_view>

namespace clique::daemon::compiler {

/// The number that the front end gives to one of SPIR's address spaces.
unsigned nvptx_space(unsigned spir);

/// The name that a builtin function has in the device library, of the one for SPIR's address spaces. The C++
/// ABI counts what occurs again, so that an address space less changes other parts of the name, too. Names of
/// another form stay as they are.
std::string nvptx_builtin_name(std::string_view spir);

}  // namespace clique::daemon::compiler
