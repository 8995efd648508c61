// The optional parts of OpenCL C that CUDA devices offer. CL_DEVICE_OPENCL_C_FEATURES and the macros that
// programs test both come from these lists.
#pragma once

#include <string>
#include <vector>

namespace clique::daemon::compiler {

/// Matrices in the registers of a sub-group (docs/extensions/cl_clique_cooperative_matrix.md). Needs compute
/// capability 8.0.
inline constexpr const char* kCooperativeMatrix = "cl_clique_cooperative_matrix";

/// The extensions that the compiler and its device library implement: the part of CL_DEVICE_EXTENSIONS that
/// concerns OpenCL C.
std::vector<std::string> language_extensions();

/// The optional features of OpenCL C 3.0 (`__opencl_c_*`, OpenCL C specification, section 6.2.1) of a device
/// with these extensions.
std::vector<std::string> language_features(const std::vector<std::string>& extensions);

}  // namespace clique::daemon::compiler
