// What of OpenCL C the devices offer beyond the core: the same list makes CL_DEVICE_OPENCL_C_FEATURES and the
// macros that programs test.
#pragma once

#include <string>
#include <vector>

namespace clique::daemon::compiler {

/// The extensions that the compiler and its device library implement, as CL_DEVICE_EXTENSIONS lists those
/// that concern OpenCL C.
std::vector<std::string> language_extensions();

/// The optional features of OpenCL C 3.0 (`__opencl_c_*`, section 6.2.1 of the OpenCL C specification) of a
/// device with these extensions.
std::vector<std::string> language_features(const std::vector<std::string>& extensions);

}  // namespace clique::daemon::compiler
