#include "daemon/backend/cuda/gpu/probe.hpp"

#include <array>

#include "daemon/backend/cuda/gpu/driver.hpp"
#include "daemon/compiler/client/compiler_process.hpp"

#include "daemon/common/log.hpp"
#include "daemon/common/vendor_ids.hpp"

namespace clique::daemon::cuda {

std::vector<ListedPlatform> list_gpus() {
  std::vector<ListedPlatform> result;
  try {
    open_driver();
    int count = 0;
    CLIQUE_CUDA(DeviceGetCount(&count));
    if (count > 0 && compiler::find_compiler().empty()) {
      spdlog::warn(
          "clique-compiler is not installed, so the {} NVIDIA GPUs of this node are not used through CUDA: "
          "install it "
          "beside cliqued, or set CLIQUE_COMPILER",
          count);
      return result;
    }
    for (int i = 0; i < count; ++i) {
      CUdevice device = 0;
      CLIQUE_CUDA(DeviceGet(&device, i));
      std::array<char, 256> name{};
      CLIQUE_CUDA(DeviceGetName(name.data(), static_cast<int>(name.size() - 1), device));
      ListedPlatform platform;
      platform.kind = PlatformKind::Cuda;
      platform.index = static_cast<std::uint32_t>(i);
      platform.name = "CUDA";
      platform.vendor = kNvidiaName;
      platform.devices.push_back({name.data(), CL_DEVICE_TYPE_GPU});
      result.push_back(std::move(platform));
    }
  } catch (const std::exception& error) {
    // Most nodes without NVIDIA GPUs have no driver, so this is not worth a warning.
    spdlog::debug("no CUDA devices: {}", error.what());
    result.clear();
  }
  return result;
}

}  // namespace clique::daemon::cuda
