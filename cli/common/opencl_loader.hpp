// OpenCL as this host's loader offers it, for the subcommands that use devices. The program does not link the
// loader, because it must work, and say so, where there is none.
#pragma once

#include <CL/cl.h>

#include <cstddef>
#include <string>
#include <vector>

namespace clique::cli {

inline constexpr const char* kOpenClLoader = "libOpenCL.so.1";

/// OpenCL's functions, as the loader has them.
struct OpenClFunctions {
#define CLIQUE_FUNCTION(name) decltype(&::name) name = nullptr;  // NOLINT(bugprone-macro-parentheses)
#define CLIQUE_FUNCTIONS(X)    \
  X(clGetPlatformIDs)          \
  X(clGetPlatformInfo)         \
  X(clGetDeviceIDs)            \
  X(clGetDeviceInfo)           \
  X(clCreateContext)           \
  X(clCreateCommandQueue)      \
  X(clCreateBuffer)            \
  X(clCreateProgramWithSource) \
  X(clBuildProgram)            \
  X(clGetProgramBuildInfo)     \
  X(clCreateKernel)            \
  X(clSetKernelArg)            \
  X(clEnqueueNDRangeKernel)    \
  X(clEnqueueReadBuffer)       \
  X(clEnqueueWriteBuffer)      \
  X(clEnqueueCopyBuffer)       \
  X(clFinish)
  CLIQUE_FUNCTIONS(CLIQUE_FUNCTION)
#undef CLIQUE_FUNCTION

  /// Throws std::runtime_error if the library lacks one.
  /// @param library of dlopen()
  explicit OpenClFunctions(void* library);
};

/// Throws std::runtime_error unless the call has succeeded.
void expect_success(cl_int status, const char* call);

/// @param query called as query(size, value, size_ret)
template <typename Query>
std::string queried_text(Query&& query) {
  std::size_t size = 0;
  if (query(0, nullptr, &size) != CL_SUCCESS || size == 0) return {};
  std::string text(size, '\0');
  if (query(size, text.data(), nullptr) != CL_SUCCESS) return {};
  return text.substr(0, text.find('\0'));
}

/// The platforms called Clique. Throws std::runtime_error.
std::vector<cl_platform_id> platforms_of_clique(const OpenClFunctions& cl);
std::vector<cl_device_id> devices_of(const OpenClFunctions& cl, cl_platform_id platform);
std::string device_text(const OpenClFunctions& cl, cl_device_id device, cl_device_info name);
/// The node in CL_DRIVER_VERSION, which is "VERSION (Clique RELEASE, node NAME)".
std::string node_in(const std::string& driver_version);

/// A device in use. Nothing is released: the process ends soon.
struct OpenedDevice {
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
};

// These throw std::runtime_error.
cl_command_queue new_queue(const OpenClFunctions& cl, cl_context context, cl_device_id device);
OpenedDevice open_device(const OpenClFunctions& cl, cl_device_id device);
cl_mem new_buffer(const OpenClFunctions& cl, cl_context context, std::size_t size);
/// Builds the program, and makes the kernel of this name.
cl_kernel build_kernel(const OpenClFunctions& cl, const OpenedDevice& opened, cl_device_id device,
                       const std::string& source, const char* name);

}  // namespace clique::cli
