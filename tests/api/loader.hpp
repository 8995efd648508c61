// The ICD loader that the tests run under.
#pragma once

#include "fixture.hpp"

namespace clique::test {

/// Whether clIcdGetPlatformIDsKHR can be asked for: Debian's loader leaves it to the driver, Khronos's
/// answers NULL itself. Any loader will do for the tests; LD_LIBRARY_PATH picks it.
inline bool loader_shows_icd_functions() {
  using GetLoaderInfo = cl_int(CL_API_CALL*)(cl_uint, size_t, void*, size_t*);
  constexpr cl_uint kName = 3;  // CL_ICDL_NAME of cl_loader_info
  const auto get =
      reinterpret_cast<GetLoaderInfo>(::clGetExtensionFunctionAddress("clGetICDLoaderInfoOCLICD"));
  char name[128] = {};
  if (get != nullptr) get(kName, sizeof name - 1, name, nullptr);
  return std::string(name).find("Khronos") == std::string::npos;
}

}  // namespace clique::test
