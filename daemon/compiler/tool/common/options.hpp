// The build options of clBuildProgram, clCompileProgram and clLinkProgram (OpenCL 3.0 API, sections 5.8.6 and
// 5.8.7) for programs in OpenCL C and SPIR-V.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "daemon/compiler/contract/build_options.hpp"
#include "daemon/compiler/contract/request.hpp"

namespace clique::daemon::compiler {

struct Options {
  unsigned language = 120;                ///< version of OpenCL C: 100, 110, 120, 200 or 300
  std::vector<std::string> preprocessor;  ///< -D, -U, -I, each as one word
  std::vector<std::string> warnings;      ///< -W…, -w

  // Mathematics (sections 5.8.6.2 and 5.8.6.3).
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
  /// -clique-check-footprints, a tool for tests: whether kernels check that they only access what the client
  /// expects (passes/access_checks.hpp).
  bool check_footprints = false;
  unsigned max_registers = 0;  ///< registers per work-item (-cl-nv-maxrregcount); 0: no limit

  // Linking (section 5.8.7).
  bool create_library = false;
  bool enable_link_options = false;

  /// Whether denormal numbers become zero: -cl-denorms-are-zero asks for it, -cl-fast-relaxed-math allows it.
  bool flush_denorms() const { return denorms_are_zero || fast_relaxed_math; }
  /// Whether division and square root may have the errors that OpenCL C allows instead of being correctly
  /// rounded.
  bool approximate_division() const { return !correctly_rounded_divide_sqrt; }
};

/// For linking: adds to `options` the settings that apply to the whole program and that all compiled objects
/// have in common. Libraries follow the program that uses them.
/// @param of_objects the options of each compiled object
void add_common_options(Options& options, const std::vector<Options>& of_objects);

/// Parses the options of one call. Throws InvalidOptions.
Options parse_options(Request::Kind kind, std::string_view text);

}  // namespace clique::daemon::compiler
