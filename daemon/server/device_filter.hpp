#pragma once

#include <string>
#include <vector>

#include "daemon/common/control.hpp"

namespace clique::daemon {

/// One driver's part of the devices to serve.
struct SelectedPlatform {
  PlatformKind kind = PlatformKind::OpenCl;
  std::uint32_t index = 0;  ///< ListedPlatform::index
  std::string name;
  std::vector<std::uint32_t> devices;  ///< indices in the platform, ascending
};

/// Selects devices by `spec`: a comma-separated list, each element an index into all of the node's devices, a
/// type (cpu, gpu, accelerator), or part of a name in any case; empty: all. Platforms without a selected
/// device are left out. Throws ConfigError where an element selects nothing; it lists what there is.
std::vector<SelectedPlatform> select_devices(const std::string& spec,
                                             const std::vector<ListedPlatform>& platforms);

/// One line for each device: its index, type and name.
std::string device_table(const std::vector<ListedPlatform>& platforms);

}  // namespace clique::daemon
