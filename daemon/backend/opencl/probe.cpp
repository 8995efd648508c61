// `cliqued probe`: what the node's drivers offer.
#include <cstdlib>

#include "daemon/backend/opencl/native.hpp"
#include "daemon/process.hpp"
#include "daemon/worker.hpp"

namespace clique::daemon {

namespace {

using opencl::get_text;
using opencl::get_value;

std::vector<ListedPlatform> list_platforms() {
  cl_uint count = 0;
  clGetPlatformIDs(0, nullptr, &count);
  std::vector<cl_platform_id> platforms(count);
  if (count > 0) clGetPlatformIDs(count, platforms.data(), nullptr);
  std::vector<ListedPlatform> result;
  for (cl_uint i = 0; i < count; ++i) {
    ListedPlatform platform;
    platform.index = i;
    platform.name = get_text([&](std::size_t size, void* value, std::size_t* size_ret) {
      return clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, size, value, size_ret);
    });
    if (platform.name == "Clique") continue;
    cl_uint devices = 0;
    clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 0, nullptr, &devices);
    std::vector<cl_device_id> ids(devices);
    if (devices > 0) clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, devices, ids.data(), nullptr);
    for (const cl_device_id id : ids) {
      const auto info = [id](cl_device_info name) {
        return [id, name](std::size_t size, void* value, std::size_t* size_ret) {
          return clGetDeviceInfo(id, name, size, value, size_ret);
        };
      };
      platform.devices.push_back(
          {get_text(info(CL_DEVICE_NAME)), get_value<cl_device_type>(info(CL_DEVICE_TYPE))});
    }
    result.push_back(std::move(platform));
  }
  return result;
}

}  // namespace

int run_probe(int control_fd) {
  die_with_parent();
  const ControlChannel control{Fd(control_fd)};
  control.send(list_platforms());
  // Drivers' destructors have nothing to say any more.
  std::_Exit(EXIT_SUCCESS);
}

}  // namespace clique::daemon
