// What OpenCL programs that tests run have in common. They end with a message on standard output and exit
// status 1 if a call fails, and 3 if there is no device.
#pragma once

#include <CL/cl.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace program {

/// Ends the program if the call has failed. @param what its name
inline void check(cl_int status, const char* what) {
  if (status == CL_SUCCESS) return;
  std::printf("%s: %d\n", what, status);
  std::exit(1);
}

/// All devices of the first platform. Ends the program if there are none.
inline std::vector<cl_device_id> all_devices() {
  cl_uint count = 0;
  cl_platform_id platform = nullptr;
  std::vector<cl_device_id> devices;
  if (clGetPlatformIDs(1, &platform, &count) == CL_SUCCESS && count > 0 &&
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) == CL_SUCCESS)
    devices.resize(count);
  if (devices.empty()) {
    std::puts("no device");
    std::exit(3);
  }
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr), "clGetDeviceIDs");
  return devices;
}

}  // namespace program
