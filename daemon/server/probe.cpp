// `cliqued probe`: what the node's drivers offer.
#include <cstdlib>
#include <stdexcept>

#include "daemon/backend/opencl/native.hpp"
#include "daemon/common/process.hpp"
#include "daemon/worker/worker.hpp"
#ifdef CLIQUE_HAS_CUDA
#include "daemon/backend/cuda/gpu/probe.hpp"
#endif

namespace clique::daemon {

namespace {

using opencl::get_text;
using opencl::get_value;

/// @param nvidia whether NVIDIA's own driver is wanted
std::vector<ListedPlatform> list_opencl_platforms(bool nvidia) {
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
    if (!nvidia && text(CL_PLATFORM_VENDOR) == "NVIDIA Corporation") continue;
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

std::vector<ListedPlatform> list_gpus(NvidiaDriver nvidia) {
#ifdef CLIQUE_HAS_CUDA
  if (nvidia == NvidiaDriver::Cuda) return cuda::list_gpus();
#endif
  static_cast<void>(nvidia);
  return {};
}

}  // namespace

NvidiaDriver parse_nvidia_driver(const std::string& text) {
  if (text == "cuda") return NvidiaDriver::Cuda;
  if (text == "opencl") return NvidiaDriver::OpenCl;
  throw std::invalid_argument("'" + text + "' is no way to use NVIDIA GPUs; 'cuda' and 'opencl' are");
}

int run_probe(int control_fd, NvidiaDriver nvidia) {
  die_with_parent();
  const ControlChannel control{Fd(control_fd)};
  // The same GPUs are not to be offered twice.
  auto platforms = list_gpus(nvidia);
  const auto others = list_opencl_platforms(platforms.empty());
  platforms.insert(platforms.end(), others.begin(), others.end());
  control.send(platforms);
  // Drivers' destructors have nothing to say any more.
  std::_Exit(EXIT_SUCCESS);
}

}  // namespace clique::daemon
