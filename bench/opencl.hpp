// Shared by the OpenCL benchmarks: finding the platform by its name, and errors as exceptions.
#pragma once

#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include <CL/opencl.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench.hpp"

namespace bench {

/// Options of every program that uses OpenCL.
struct OpenCLOptions : Options {
  std::string platform;
};

/// Throws if a call of OpenCL's C interface failed. Timed loops use that interface directly.
inline void check(cl_int status, const char* call) {
  if (status != CL_SUCCESS)
    throw std::runtime_error(std::string(call) + " failed with error " + std::to_string(status));
}

/// The devices of the first platform whose name contains `name`. Throws if there is none.
inline std::vector<cl::Device> devices_of(const std::string& name) {
  std::vector<cl::Platform> platforms;
  cl::Platform::get(&platforms);
  for (const cl::Platform& platform : platforms) {
    if (platform.getInfo<CL_PLATFORM_NAME>().find(name) == std::string::npos) continue;
    std::vector<cl::Device> devices;
    platform.getDevices(CL_DEVICE_TYPE_ALL, &devices);
    return devices;
  }
  throw std::runtime_error("no platform's name contains '" + name + "'; `clinfo -l` lists the platforms");
}

/// Builds a program with one kernel for all devices of the context.
inline cl::Kernel build_kernel(const cl::Context& context, const char* source, const char* name) {
  cl::Program program(context, source);
  program.build();
  return {program, name};
}

/// Enqueues one work-item of `kernel`.
inline void enqueue(cl_command_queue queue, cl_kernel kernel) {
  const size_t one = 1;
  check(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &one, nullptr, 0, nullptr, nullptr),
        "clEnqueueNDRangeKernel");
}

/// Like run(), with --platform and the options that `add` adds. Errors of the C++ binding name the call and
/// its error.
inline int run_opencl(int argc, char** argv, const char* description, OpenCLOptions& options,
                      const AddOptions& add, const std::function<void()>& body) {
  const auto add_all = [&](CommandLine& line) {
    line.option("--platform", options.platform, "part of the platform's name; default: the first platform");
    add(line);
  };
  return run(argc, argv, description, options, add_all, [&] {
    try {
      body();
    } catch (const cl::Error& error) {
      throw std::runtime_error(std::string(error.what()) + " failed with error " +
                               std::to_string(error.err()));
    }
  });
}

}  // namespace bench
