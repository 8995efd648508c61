#include "daemon/backend/cuda/gpu/device.hpp"

#include <array>
#include <stdexcept>

#include "daemon/backend/cuda/gpu/room.hpp"
#include "daemon/compiler/contract/language_features.hpp"

namespace clique::daemon::cuda {

namespace {

/// Younger than the headers that Clique builds with. Drivers before CUDA 12.4 do not know it.
constexpr auto kMpsEnabled = static_cast<CUdevice_attribute>(133);

}  // namespace

int Device::attribute(CUdevice_attribute name) const {
  int value = 0;
  CLIQUE_CUDA(DeviceGetAttribute(&value, name, native));
  return value;
}

std::string Device::architecture() const {
  return "sm_" + std::to_string(major) + std::to_string(minor);
}

Device find_device(std::uint32_t number) {
  open_driver();
  int count = 0;
  CLIQUE_CUDA(DeviceGetCount(&count));
  if (number >= static_cast<std::uint32_t>(count))
    throw std::runtime_error("GPU " + std::to_string(number) + " is not there any more; the driver has " +
                             std::to_string(count));
  Device device;
  CLIQUE_CUDA(DeviceGet(&device.native, static_cast<int>(number)));
  device.major = static_cast<unsigned>(device.attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
  device.minor = static_cast<unsigned>(device.attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  const auto number_of = [&device](CUdevice_attribute name) {
    return static_cast<std::uint32_t>(device.attribute(name));
  };
  device.limits.groups = {number_of(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X),
                          number_of(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y),
                          number_of(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)};
  device.limits.items = {number_of(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X),
                         number_of(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y),
                         number_of(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)};
  device.most_local = number_of(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  device.pooled = device.attribute(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED) != 0;
  device.placeable = device.attribute(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED) != 0;
  int mps = 0;
  device.mps = driver().DeviceGetAttribute(&mps, kMpsEnabled, device.native) == CUDA_SUCCESS && mps != 0;
  return device;
}

Device open_device(std::uint32_t number) {
  Device device = find_device(number);
  check(when_there_is_room([&] { return driver().DevicePrimaryCtxRetain(&device.context, device.native); }),
        "cuDevicePrimaryCtxRetain");
  CLIQUE_CUDA(CtxSetCurrent(device.context));
  return device;
}

std::vector<std::string> language_extensions(const Device& device) {
  auto extensions = compiler::language_extensions();
  std::erase_if(extensions, [&device](const std::string& name) {
    const unsigned capability = device.major * 10 + device.minor;
    return (name == "cl_khr_fp16" && capability < 53) ||
           (name == compiler::kCooperativeMatrix && capability < 80);
  });
  return extensions;
}

}  // namespace clique::daemon::cuda
