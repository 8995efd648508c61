// The functions that loaders look up by name (exports.map). Loaders find all others through the dispatch
// table.
#include "icd/api/entry_points.hpp"

extern "C" {

__attribute__((visibility("default"))) cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint num_entries,
                                                                                 cl_platform_id* platforms,
                                                                                 cl_uint* num_platforms) {
  return clique::icd::api::clIcdGetPlatformIDsKHR(num_entries, platforms, num_platforms);
}

__attribute__((visibility("default"))) void* CL_API_CALL
clGetExtensionFunctionAddress(const char* func_name) {
  return clique::icd::api::clGetExtensionFunctionAddress(func_name);
}

__attribute__((visibility("default"))) cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform,
                                                                            cl_platform_info param_name,
                                                                            size_t param_value_size,
                                                                            void* param_value,
                                                                            size_t* param_value_size_ret) {
  return clique::icd::api::clGetPlatformInfo(platform, param_name, param_value_size, param_value,
                                             param_value_size_ret);
}
}
