// Headers that are part of the compiler.
#pragma once

#include <string_view>

namespace clique::daemon::compiler {

/// The text of Clang's opencl-c-base.h, which every program includes. Embedded, so that nodes need no Clang.
std::string_view opencl_c_base_header();

/// The text of daemon/compiler/library/cooperative_matrix.h, which programs for devices with
/// cl_clique_cooperative_matrix include.
std::string_view cooperative_matrix_header();

}  // namespace clique::daemon::compiler
