#include "icd/api/boundary.hpp"

#include <CL/cl_egl.h>
#include <CL/cl_ext.h>
#include <CL/cl_gl.h>

#include <algorithm>
#include <iterator>
#include <new>
#include <string>

#include "icd/common/say.hpp"
#include "icd/common/settings.hpp"

namespace clique::icd::api {

namespace {

struct StatusName {
  cl_int status;
  const char* name;
};

#define CLIQUE_NAMED(status) {status, #status}
constexpr StatusName kStatusNames[] = {
    CLIQUE_NAMED(CL_SUCCESS),
    CLIQUE_NAMED(CL_DEVICE_NOT_FOUND),
    CLIQUE_NAMED(CL_DEVICE_NOT_AVAILABLE),
    CLIQUE_NAMED(CL_COMPILER_NOT_AVAILABLE),
    CLIQUE_NAMED(CL_MEM_OBJECT_ALLOCATION_FAILURE),
    CLIQUE_NAMED(CL_OUT_OF_RESOURCES),
    CLIQUE_NAMED(CL_OUT_OF_HOST_MEMORY),
    CLIQUE_NAMED(CL_PROFILING_INFO_NOT_AVAILABLE),
    CLIQUE_NAMED(CL_MEM_COPY_OVERLAP),
    CLIQUE_NAMED(CL_IMAGE_FORMAT_MISMATCH),
    CLIQUE_NAMED(CL_IMAGE_FORMAT_NOT_SUPPORTED),
    CLIQUE_NAMED(CL_BUILD_PROGRAM_FAILURE),
    CLIQUE_NAMED(CL_MAP_FAILURE),
    CLIQUE_NAMED(CL_MISALIGNED_SUB_BUFFER_OFFSET),
    CLIQUE_NAMED(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
    CLIQUE_NAMED(CL_COMPILE_PROGRAM_FAILURE),
    CLIQUE_NAMED(CL_LINKER_NOT_AVAILABLE),
    CLIQUE_NAMED(CL_LINK_PROGRAM_FAILURE),
    CLIQUE_NAMED(CL_DEVICE_PARTITION_FAILED),
    CLIQUE_NAMED(CL_KERNEL_ARG_INFO_NOT_AVAILABLE),
    CLIQUE_NAMED(CL_INVALID_VALUE),
    CLIQUE_NAMED(CL_INVALID_DEVICE_TYPE),
    CLIQUE_NAMED(CL_INVALID_PLATFORM),
    CLIQUE_NAMED(CL_INVALID_DEVICE),
    CLIQUE_NAMED(CL_INVALID_CONTEXT),
    CLIQUE_NAMED(CL_INVALID_QUEUE_PROPERTIES),
    CLIQUE_NAMED(CL_INVALID_COMMAND_QUEUE),
    CLIQUE_NAMED(CL_INVALID_HOST_PTR),
    CLIQUE_NAMED(CL_INVALID_MEM_OBJECT),
    CLIQUE_NAMED(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR),
    CLIQUE_NAMED(CL_INVALID_IMAGE_SIZE),
    CLIQUE_NAMED(CL_INVALID_SAMPLER),
    CLIQUE_NAMED(CL_INVALID_BINARY),
    CLIQUE_NAMED(CL_INVALID_BUILD_OPTIONS),
    CLIQUE_NAMED(CL_INVALID_PROGRAM),
    CLIQUE_NAMED(CL_INVALID_PROGRAM_EXECUTABLE),
    CLIQUE_NAMED(CL_INVALID_KERNEL_NAME),
    CLIQUE_NAMED(CL_INVALID_KERNEL_DEFINITION),
    CLIQUE_NAMED(CL_INVALID_KERNEL),
    CLIQUE_NAMED(CL_INVALID_ARG_INDEX),
    CLIQUE_NAMED(CL_INVALID_ARG_VALUE),
    CLIQUE_NAMED(CL_INVALID_ARG_SIZE),
    CLIQUE_NAMED(CL_INVALID_KERNEL_ARGS),
    CLIQUE_NAMED(CL_INVALID_WORK_DIMENSION),
    CLIQUE_NAMED(CL_INVALID_WORK_GROUP_SIZE),
    CLIQUE_NAMED(CL_INVALID_WORK_ITEM_SIZE),
    CLIQUE_NAMED(CL_INVALID_GLOBAL_OFFSET),
    CLIQUE_NAMED(CL_INVALID_EVENT_WAIT_LIST),
    CLIQUE_NAMED(CL_INVALID_EVENT),
    CLIQUE_NAMED(CL_INVALID_OPERATION),
    CLIQUE_NAMED(CL_INVALID_GL_OBJECT),
    CLIQUE_NAMED(CL_INVALID_BUFFER_SIZE),
    CLIQUE_NAMED(CL_INVALID_MIP_LEVEL),
    CLIQUE_NAMED(CL_INVALID_GLOBAL_WORK_SIZE),
    CLIQUE_NAMED(CL_INVALID_PROPERTY),
    CLIQUE_NAMED(CL_INVALID_IMAGE_DESCRIPTOR),
    CLIQUE_NAMED(CL_INVALID_COMPILER_OPTIONS),
    CLIQUE_NAMED(CL_INVALID_LINKER_OPTIONS),
    CLIQUE_NAMED(CL_INVALID_DEVICE_PARTITION_COUNT),
    CLIQUE_NAMED(CL_INVALID_PIPE_SIZE),
    CLIQUE_NAMED(CL_INVALID_DEVICE_QUEUE),
    CLIQUE_NAMED(CL_INVALID_SPEC_ID),
    CLIQUE_NAMED(CL_MAX_SIZE_RESTRICTION_EXCEEDED),
    CLIQUE_NAMED(CL_INVALID_GL_SHAREGROUP_REFERENCE_KHR),
    CLIQUE_NAMED(CL_PLATFORM_NOT_FOUND_KHR),
    CLIQUE_NAMED(CL_DEVICE_PARTITION_FAILED_EXT),
    CLIQUE_NAMED(CL_INVALID_PARTITION_COUNT_EXT),
    CLIQUE_NAMED(CL_INVALID_EGL_OBJECT_KHR),
    CLIQUE_NAMED(CL_INVALID_COMMAND_BUFFER_KHR),
    CLIQUE_NAMED(CL_INVALID_SYNC_POINT_WAIT_LIST_KHR),
    CLIQUE_NAMED(CL_INCOMPATIBLE_COMMAND_QUEUE_KHR),
};
#undef CLIQUE_NAMED

void log(const char* entry_point, cl_int status, const char* why) {
  static const bool logs = logs_failures();
  if (!logs) return;
  const char* name = status_name(status);
  const std::string what = name != nullptr ? name : "status " + std::to_string(status);
  say(std::string(entry_point) + ": " + what + (*why != '\0' ? ": " : "") + why);
}

}  // namespace

const char* status_name(cl_int status) noexcept {
  const auto found = std::find_if(std::begin(kStatusNames), std::end(kStatusNames),
                                  [status](const StatusName& entry) { return entry.status == status; });
  return found == std::end(kStatusNames) ? nullptr : found->name;
}

cl_int current_status(const char* entry_point) noexcept {
  try {
    throw;
  } catch (const Error& error) {
    log(entry_point, error.status(), error.what());
    return error.status();
  } catch (const std::bad_alloc& error) {
    log(entry_point, CL_OUT_OF_HOST_MEMORY, error.what());
    return CL_OUT_OF_HOST_MEMORY;
  } catch (const std::exception& error) {
    log(entry_point, CL_OUT_OF_RESOURCES, error.what());
    return CL_OUT_OF_RESOURCES;
  } catch (...) {
    log(entry_point, CL_OUT_OF_RESOURCES, "an unknown exception");
    return CL_OUT_OF_RESOURCES;
  }
}

}  // namespace clique::icd::api
