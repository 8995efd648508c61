// An ordinary OpenCL program: uses every device of the first platform, and checks the results.
//
// Use: slurm_client [--hold]
//
// Prints the names of the devices' nodes in the devices' order, in one line. With --hold it then sleeps until
// it is killed. Exit status: 0 right; 1 a call failed, which is printed; 2 wrong result; 3 no device.
#include <CL/cl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "program.hpp"

namespace {

using program::all_devices;
using program::check;

/// The node's name, which ends the driver's version: "… node NAME)".
std::string node_of(cl_device_id device) {
  std::size_t size = 0;
  check(clGetDeviceInfo(device, CL_DRIVER_VERSION, 0, nullptr, &size), "clGetDeviceInfo");
  std::string version(size, '\0');
  check(clGetDeviceInfo(device, CL_DRIVER_VERSION, size, version.data(), nullptr), "clGetDeviceInfo");
  const std::size_t begin = version.rfind(' ') + 1;
  return version.substr(begin, version.rfind(')') - begin);
}

/// Each device writes its number into its part of one buffer, one device after the other, so that the buffer
/// moves from node to node. A kernel would take PoCL most of the test's time.
bool compute(const std::vector<cl_device_id>& devices) {
  constexpr std::size_t kPart = 1024;
  const auto count = static_cast<cl_uint>(devices.size());
  std::vector<cl_uint> data(kPart * count);
  const std::size_t bytes = data.size() * sizeof(cl_uint);
  cl_int status = CL_SUCCESS;
  cl_context context = clCreateContext(nullptr, count, devices.data(), nullptr, nullptr, &status);
  check(status, "clCreateContext");
  cl_mem buffer = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, bytes, data.data(), &status);
  check(status, "clCreateBuffer");
  cl_command_queue queue = nullptr;
  for (cl_uint i = 0; i < count; ++i) {
    const cl_uint number = i + 1;
    constexpr std::size_t kPartBytes = kPart * sizeof number;
    queue = clCreateCommandQueueWithProperties(context, devices[i], nullptr, &status);
    check(status, "clCreateCommandQueueWithProperties");
    check(clEnqueueFillBuffer(queue, buffer, &number, sizeof number, i * kPartBytes, kPartBytes, 0, nullptr,
                              nullptr),
          "clEnqueueFillBuffer");
    check(clFinish(queue), "clFinish");
  }
  check(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes, data.data(), 0, nullptr, nullptr),
        "clEnqueueReadBuffer");
  for (std::size_t i = 0; i < data.size(); ++i)
    if (data[i] != i / kPart + 1) return false;
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
