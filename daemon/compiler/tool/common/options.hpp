// The options of clBuildProgram, clCompileProgram and clLinkProgram (OpenCL 3.0 API, sections 5.8.6
// and 5.8.7) for OpenCL C.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "daemon/compiler/contract/build_options.hpp"
#include "daemon/compiler/contract/request.hpp"

namespace clique::daemon::compiler {

struct Options {
  unsigned language = 120;                ///< 100, 110, 120, 200, 300
  std::vector<std::string> preprocessor;  ///< -D, -U, -I, each as one word
  std::vector<std::string> warnings;      ///< -W…, -w

  // Mathematics (5.8.6.2, 5.8.6.3).
  bool single_precision_constant = false;
  bool denorms_are_zero = false;
  bool correctly_rounded_divide_sqrt = false;
  bool mad_enable = false;
  bool no_signed_zeros = false;
  bool unsafe_math = false;
  bool finite_math_only = false;
  bool fast_relaxed_math = false;

  bool opt_disable = false;
  bool strict_aliasing = false;
  bool uniform_work_group_size = false;
  bool debug = false;
  unsigned max_registers = 0;  ///< -cl-nv-maxrregcount; 0: not limited

  // Linking (5.8.7).
  bool create_library = false;
  bool enable_link_options = false;

  /// Denormals become zero: what -cl-denorms-are-zero says and -cl-fast-relaxed-math allows.
  bool flush_denorms() const { return denorms_are_zero || fast_relaxed_math; }
  /// Division and square root as exact as other functions, not as rounded ones.
  bool approximate_division() const { return !correctly_rounded_divide_sqrt; }
};

/// For linking: turns on what the options of all of the compiled objects have in common and what the whole
/// program has to be made with. Libraries do as their users do.
void add_common_options(Options& options, const std::vector<Options>& of_objects);

/// Throws InvalidOptions.
Options parse_options(Request::Kind kind, std::string_view text);

}  // namespace clique::daemon::compiler
