// Section 4.1: the platform.
#include "icd/core/objects/platform.hpp"

#include <ctime>

#include "icd/api/boundary.hpp"
#include "icd/api/entry_points.hpp"
#include "icd/common/settings.hpp"
#include "icd/core/objects/extensions.hpp"

namespace clique::icd::api {

namespace {

/// The resolution in ns of the clock that clGetHostTimer reads.
cl_ulong host_timer_resolution() {
  timespec resolution{};
  clock_getres(CLOCK_MONOTONIC, &resolution);
  return static_cast<cl_ulong>(resolution.tv_sec) * 1'000'000'000U +
         static_cast<cl_ulong>(resolution.tv_nsec);
}

}  // namespace

cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint num_entries, cl_platform_id* platforms,
                                          cl_uint* num_platforms) try {
  require(platforms == nullptr || num_entries > 0, CL_INVALID_VALUE, "num_entries is 0");
  require(platforms != nullptr || num_platforms != nullptr, CL_INVALID_VALUE,
          "platforms and num_platforms are NULL");
  if (num_platforms != nullptr) *num_platforms = Platform::offered() ? 1 : 0;
  require(Platform::offered(), CL_PLATFORM_NOT_FOUND_KHR,
          is_off() ? "CLIQUE_NODES is off, so there is no platform"
                   : "CLIQUE_WORKER is set: this process is a worker, which offers no platform");
  if (platforms != nullptr) platforms[0] = Platform::handle();
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clGetPlatformIDs(cl_uint num_entries, cl_platform_id* platforms, cl_uint* num_platforms) {
  return api::clIcdGetPlatformIDsKHR(num_entries, platforms, num_platforms);
}

cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform, cl_platform_info param_name,
                                     size_t param_value_size, void* param_value,
                                     size_t* param_value_size_ret) try {
  require(platform == Platform::handle(), CL_INVALID_PLATFORM, "platform is not the handle of this platform");
  const InfoWriter write(param_value_size, param_value, param_value_size_ret);
  switch (param_name) {
    case CL_PLATFORM_PROFILE:
      write("FULL_PROFILE");
      break;
    case CL_PLATFORM_VERSION:
      write("OpenCL 3.0 Clique " CLIQUE_VERSION);
      break;
    case CL_PLATFORM_NUMERIC_VERSION:
      write(cl_version{CL_MAKE_VERSION(3, 0, 0)});
      break;
    case CL_PLATFORM_NAME:
      write(Platform::label().name.c_str());
      break;
    case CL_PLATFORM_VENDOR:
      write(Platform::label().vendor.c_str());
      break;
    case CL_PLATFORM_EXTENSIONS:
      write(names_of(Platform::instance().extensions()));
      break;
    case CL_PLATFORM_EXTENSIONS_WITH_VERSION:
      write(Platform::instance().extensions());
      break;
    case CL_PLATFORM_HOST_TIMER_RESOLUTION:
      write(host_timer_resolution());
      break;
    case kPlatformCapabilities:
      write(kPlatformUniversalSync | kPlatformRemapQueues | kPlatformAutomaticRemap);
      break;
    case CL_PLATFORM_SEMAPHORE_TYPES_KHR:
      write(cl_semaphore_type_khr{CL_SEMAPHORE_TYPE_BINARY_KHR});
      break;
    case CL_PLATFORM_ICD_SUFFIX_KHR:
      write("CLIQUE");
      break;
    default:
      throw unknown_param(param_name);
  }
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

}  // namespace clique::icd::api
