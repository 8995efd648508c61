// Reads or writes files through cl_clique_file, on the device of one node.
// Use: security_files [--node NODE] [--write] [--bytes N] PATH…
//   --node NODE  the device of this node; default: the first device
//   --write      writes, and creates what does not exist
//   --bytes N    how many; default: 4
// Prints for each path the bytes that were read, if they are 4, or "ok"; or the status that the command
// failed with. Exit status: 0 all paths were tried; 1 another call failed, which is printed; 3 no device.
#include <CL/cl.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "icd/include/CL/cl_ext_clique.h"
#include "program.hpp"

namespace {

using program::all_devices;
using program::check;

template <typename F>
F find(cl_device_id device, const char* name) {
  cl_platform_id platform = nullptr;
  check(clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, nullptr), "clGetDeviceInfo");
  auto* const function = reinterpret_cast<F>(clGetExtensionFunctionAddressForPlatform(platform, name));
  check(function != nullptr ? CL_SUCCESS : CL_INVALID_OPERATION, name);
  return function;
}

/// Whether the node serves the device: the driver's version names it.
bool belongs_to(cl_device_id device, const std::string& node) {
  char version[1024] = {};
  check(clGetDeviceInfo(device, CL_DRIVER_VERSION, sizeof version - 1, version, nullptr), "clGetDeviceInfo");
  return std::string_view(version).find("node " + node + ")") != std::string_view::npos;
}

}  // namespace

int main(int argc, char** argv) {
  std::string node;
  bool writes = false;
  std::size_t bytes = 4;
  std::vector<const char*> paths;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--write")
      writes = true;
    else if (word == "--node" && i + 1 < argc)
      node = argv[++i];
    else if (word == "--bytes" && i + 1 < argc)
      bytes = std::strtoull(argv[++i], nullptr, 10);
    else
      paths.push_back(argv[i]);
  }
  const std::vector<cl_device_id> devices = all_devices();
  cl_device_id device = nullptr;
  for (cl_device_id one : devices)
    if (device == nullptr && (node.empty() || belongs_to(one, node))) device = one;
  if (device == nullptr) return 3;
  cl_int status = CL_SUCCESS;
  cl_context context = clCreateContext(nullptr, static_cast<cl_uint>(devices.size()), devices.data(), nullptr,
                                       nullptr, &status);
  check(status, "clCreateContext");
  cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, nullptr, &status);
  check(status, "clCreateCommandQueueWithProperties");
  cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &status);
  check(status, "clCreateBuffer");
  const auto create = find<clCreateFileCLIQUE_fn>(device, "clCreateFileCLIQUE");
  const auto release = find<clReleaseFileCLIQUE_fn>(device, "clReleaseFileCLIQUE");
  const auto read = find<clEnqueueReadFileCLIQUE_fn>(device, "clEnqueueReadFileCLIQUE");
  const auto write = find<clEnqueueWriteFileCLIQUE_fn>(device, "clEnqueueWriteFileCLIQUE");
  for (const char* path : paths) {
    const cl_uint pattern = 0x21212121;
    check(clEnqueueFillBuffer(queue, buffer, &pattern, sizeof pattern, 0, bytes, 0, nullptr, nullptr),
          "clEnqueueFillBuffer");
    cl_file_clique file = create(
        context, writes ? CL_FILE_WRITE_CLIQUE | CL_FILE_CREATE_CLIQUE : CL_FILE_READ_CLIQUE, path, &status);
    check(status, "clCreateFileCLIQUE");
    status = (writes ? write : read)(queue, file, CL_TRUE, 0, buffer, 0, bytes, 0, nullptr, nullptr);
    char text[5] = {};
    if (status != CL_SUCCESS) {
      std::printf("%d\n", status);
    } else if (!writes && bytes == 4) {
      check(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes, text, 0, nullptr, nullptr),
            "clEnqueueReadBuffer");
      std::printf("%s\n", text);
    } else {
      std::printf("ok\n");
    }
    release(file);
  }
  clReleaseMemObject(buffer);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return 0;
}
