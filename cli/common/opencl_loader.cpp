#include "cli/common/opencl_loader.hpp"

#include <dlfcn.h>

#include <stdexcept>

#include "protocol/printable.hpp"

namespace clique::cli {

OpenClFunctions::OpenClFunctions(void* library) {
  const auto look_up = [library](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
    if (function == nullptr)
      throw std::runtime_error(std::string(kOpenClLoader) + " lacks the function " + name +
                               "; install a loader for OpenCL 1.2 or later");
  };
#define CLIQUE_FUNCTION(name) look_up(name, #name);
  CLIQUE_FUNCTIONS(CLIQUE_FUNCTION)
#undef CLIQUE_FUNCTION
}

void expect_success(cl_int status, const char* call) {
  if (status != CL_SUCCESS)
    throw std::runtime_error(std::string(call) + " failed with status " + std::to_string(status) +
                             "; CLIQUE_LOG=debug says why");
}

std::vector<cl_platform_id> platforms_of_clique(const OpenClFunctions& cl) {
  cl_uint count = 0;
  cl.clGetPlatformIDs(0, nullptr, &count);
  std::vector<cl_platform_id> platforms(count);
  if (count > 0) expect_success(cl.clGetPlatformIDs(count, platforms.data(), nullptr), "clGetPlatformIDs");
  std::erase_if(platforms, [&cl](cl_platform_id each) {
    return queried_text([&](std::size_t size, void* value, std::size_t* size_ret) {
             return cl.clGetPlatformInfo(each, CL_PLATFORM_NAME, size, value, size_ret);
           }) != "Clique";
  });
  return platforms;
}

std::vector<cl_device_id> devices_of(const OpenClFunctions& cl, cl_platform_id platform) {
  cl_uint count = 0;
  cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count);
  std::vector<cl_device_id> devices(count);
  if (count > 0)
    expect_success(cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr),
                   "clGetDeviceIDs");
  return devices;
}

std::string device_text(const OpenClFunctions& cl, cl_device_id device, cl_device_info name) {
  return queried_text([&](std::size_t size, void* value, std::size_t* size_ret) {
    return cl.clGetDeviceInfo(device, name, size, value, size_ret);
  });
}

std::string node_in(const std::string& driver_version) {
  constexpr std::string_view kMark = ", node ";
  const auto begin = driver_version.rfind(kMark);
  if (begin == std::string::npos) return {};
  const std::string rest = driver_version.substr(begin + kMark.size());
  return rest.substr(0, rest.rfind(')'));
}

cl_command_queue new_queue(const OpenClFunctions& cl, cl_context context, cl_device_id device) {
  cl_int status = CL_SUCCESS;
  const cl_command_queue queue = cl.clCreateCommandQueue(context, device, 0, &status);
  expect_success(status, "clCreateCommandQueue");
  return queue;
}

OpenedDevice open_device(const OpenClFunctions& cl, cl_device_id device) {
  OpenedDevice result;
  cl_int status = CL_SUCCESS;
  result.context = cl.clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
  expect_success(status, "clCreateContext");
  result.queue = new_queue(cl, result.context, device);
  return result;
}

cl_mem new_buffer(const OpenClFunctions& cl, cl_context context, std::size_t size) {
  cl_int status = CL_SUCCESS;
  const cl_mem buffer = cl.clCreateBuffer(context, CL_MEM_READ_WRITE, size, nullptr, &status);
  expect_success(status, "clCreateBuffer");
  return buffer;
}

cl_kernel build_kernel(const OpenClFunctions& cl, const OpenedDevice& opened, cl_device_id device,
                       const std::string& source, const char* name) {
  cl_int status = CL_SUCCESS;
  const char* text = source.c_str();
  const cl_program program = cl.clCreateProgramWithSource(opened.context, 1, &text, nullptr, &status);
  expect_success(status, "clCreateProgramWithSource");
  status = cl.clBuildProgram(program, 1, &device, "", nullptr, nullptr);
  if (status != CL_SUCCESS) {
    const std::string log = queried_text([&](std::size_t size, void* value, std::size_t* size_ret) {
      return cl.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, value, size_ret);
    });
    throw std::runtime_error("clBuildProgram failed with status " + std::to_string(status) + ": " +
                             protocol::printable(log));
  }
  const cl_kernel kernel = cl.clCreateKernel(program, name, &status);
  expect_success(status, "clCreateKernel");
  return kernel;
}

}  // namespace clique::cli
