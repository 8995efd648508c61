// The ICD loader that the tests run under.
#pragma once

#include "fixture.hpp"

namespace clique::test {

/// Whether programs can get the address of clIcdGetPlatformIDsKHR: Debian's loader passes the question on to
/// the driver, while Khronos' loader returns NULL itself. The tests work with either; LD_LIBRARY_PATH selects
/// it.
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
