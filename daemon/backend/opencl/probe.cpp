#include "daemon/backend/opencl/probe.hpp"

#include "daemon/backend/opencl/native.hpp"
#include "daemon/common/vendor_ids.hpp"

namespace clique::daemon::opencl {

std::vector<ListedPlatform> list_platforms(Wanted wanted) {
  cl_uint count = 0;
  clGetPlatformIDs(0, nullptr, &count);
  std::vector<cl_platform_id> platforms(count);
  if (count > 0) clGetPlatformIDs(count, platforms.data(), nullptr);
  std::vector<ListedPlatform> result;
  for (cl_uint i = 0; i < count; ++i) {
    ListedPlatform platform;
    platform.index = i;
    const auto text = [&platforms, i](cl_platform_info name) {
      return get_text([&](std::size_t size, void* value, std::size_t* size_ret) {
        return clGetPlatformInfo(platforms[i], name, size, value, size_ret);
      });
    };
    platform.name = text(CL_PLATFORM_NAME);
    if (platform.name == "Clique") continue;
    platform.vendor = text(CL_PLATFORM_VENDOR);
    if (!wanted.nvidia && platform.vendor == kNvidiaName) continue;
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

}  // namespace clique::daemon::opencl
