// The boundary between C and the library: exceptions become status codes.
//
// Every entry point is a function-try-block:
//
//   cl_int CL_API_CALL clFinish(cl_command_queue command_queue) try {
//     get<Queue>(command_queue)->finish();
//     return CL_SUCCESS;
//   }
//   CLIQUE_CATCH_STATUS
//
//   cl_event CL_API_CALL clCreateUserEvent(cl_context context, cl_int* errcode_ret) try {
//     return created(new Event(get<Context>(context)), errcode_ret);
//   }
//   CLIQUE_CATCH_ERRCODE(errcode_ret)
#pragma once

#include "icd/api/info.hpp"
#include "icd/common/error.hpp"
#include "icd/common/object.hpp"

namespace clique::icd::api {

/// The name of a status, such as "CL_INVALID_VALUE"; null if OpenCL does not define it.
const char* status_name(cl_int status) noexcept;

/// The status for the exception that is being handled: that of an Error, CL_OUT_OF_HOST_MEMORY for bad_alloc,
/// CL_OUT_OF_RESOURCES for all others. With CLIQUE_LOG=debug, prints the reason on standard error.
cl_int current_status(const char* entry_point) noexcept;

#define CLIQUE_CATCH_STATUS                              \
  catch (...) {                                          \
    return ::clique::icd::api::current_status(__func__); \
  }

#define CLIQUE_CATCH_ERRCODE(errcode_ret)                               \
  catch (...) {                                                         \
    const cl_int status = ::clique::icd::api::current_status(__func__); \
    if ((errcode_ret) != nullptr) *(errcode_ret) = status;              \
    return nullptr;                                                     \
  }

/// Returns a new object to the application.
template <typename T>
typename T::HandleType* created(T* object, cl_int* errcode_ret) {
  const Ref<T> keep(object);
  if (errcode_ret != nullptr) *errcode_ret = CL_SUCCESS;
  return keep->give_out();
}

/// Returns a command's event to the application if it asked for one. There may be none otherwise.
template <typename EventRef>
void give_event(const EventRef& event, cl_event* out) {
  if (out != nullptr)
    *out = event->give_out();
  else if (event)
    event->set_silent();
}

}  // namespace clique::icd::api
