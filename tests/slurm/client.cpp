// An ordinary OpenCL program: computes something on every device of the first platform, and checks the
// results.
//
// Use: slurm_client [--hold]
//
// Prints the names of the devices' nodes in the devices' order, in one line. With --hold it then sleeps until
// it is killed. Exit status: 0 right; 1 a call failed, which is printed; 2 wrong result; 3 no device.
#include <CL/cl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "program.hpp"

namespace {

using program::all_devices;
using program::check;

constexpr const char* kSource =
    "kernel void multiply(global uint* data, uint by) { data[get_global_id(0)] *= by; }";

/// The node's name, which ends the driver's version: "… node NAME)".
std::string node_of(cl_device_id device) {
  std::size_t size = 0;
  check(clGetDeviceInfo(device, CL_DRIVER_VERSION, 0, nullptr, &size), "clGetDeviceInfo");
  std::string version(size, '\0');
  check(clGetDeviceInfo(device, CL_DRIVER_VERSION, size, version.data(), nullptr), "clGetDeviceInfo");
  const std::size_t begin = version.rfind(' ') + 1;
  return version.substr(begin, version.rfind(')') - begin);
}

/// Each device multiplies the same buffer by a number of its own, one device after the other.
bool compute(const std::vector<cl_device_id>& devices) {
  constexpr std::size_t kCount = 1024;
  std::vector<cl_uint> data(kCount);
  std::iota(data.begin(), data.end(), 1U);
  const auto count = static_cast<cl_uint>(devices.size());
  cl_int status = CL_SUCCESS;
  cl_context context = clCreateContext(nullptr, count, devices.data(), nullptr, nullptr, &status);
  check(status, "clCreateContext");
  const char* source = kSource;
  cl_program program = clCreateProgramWithSource(context, 1, &source, nullptr, &status);
  check(status, "clCreateProgramWithSource");
  check(clBuildProgram(program, count, devices.data(), "", nullptr, nullptr), "clBuildProgram");
  cl_kernel kernel = clCreateKernel(program, "multiply", &status);
  check(status, "clCreateKernel");
  constexpr std::size_t kBytes = kCount * sizeof(cl_uint);
  cl_mem buffer = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, kBytes, data.data(), &status);
  check(status, "clCreateBuffer");
  check(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), "clSetKernelArg");
  cl_command_queue queue = nullptr;
  cl_uint product = 1;
  for (cl_uint i = 0; i < count; ++i) {
    const cl_uint by = i + 2;
    product *= by;
    queue = clCreateCommandQueueWithProperties(context, devices[i], nullptr, &status);
    check(status, "clCreateCommandQueueWithProperties");
    check(clSetKernelArg(kernel, 1, sizeof by, &by), "clSetKernelArg");
    check(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &kCount, nullptr, 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
    check(clFinish(queue), "clFinish");
  }
  check(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, kBytes, data.data(), 0, nullptr, nullptr),
        "clEnqueueReadBuffer");
  for (std::size_t i = 0; i < kCount; ++i)
    if (data[i] != product * (i + 1)) return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<cl_device_id> devices = all_devices();
  if (!compute(devices)) {
    std::puts("wrong result");
    return 2;
  }
  std::string nodes;
  for (cl_device_id device : devices) nodes += (nodes.empty() ? "" : " ") + node_of(device);
  std::puts(nodes.c_str());
  std::fflush(stdout);
  if (argc > 1 && std::string_view(argv[1]) == "--hold") ::pause();
  return 0;
}
