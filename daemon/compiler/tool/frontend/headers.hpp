// Headers that are part of the compiler.
#pragma once

#include <string_view>

namespace clique::daemon::compiler {

/// The text of Clang's opencl-c-base.h, which every program includes. Embedded, so that nodes need no Clang.
std::string_view opencl_c_base_header();

}  // namespace clique::daemon::compiler
