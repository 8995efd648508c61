#pragma once

#include <string_view>

namespace clique::daemon::compiler {

/// Clang's opencl-c-base.h, which every program includes: a copy in the compiler, so that nodes need none.
std::string_view opencl_c_base_header();

}  // namespace clique::daemon::compiler
