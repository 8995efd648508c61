#pragma once

#include <string>
#include <vector>

#include "daemon/common/control.hpp"

namespace clique::daemon {

/// The devices of one driver that are served.
struct SelectedPlatform {
  PlatformKind kind = PlatformKind::OpenCl;
  std::uint32_t index = 0;  ///< ListedPlatform::index
  std::string name;
  std::vector<std::uint32_t> devices;  ///< positions in the platform, ascending
};

/// Selects devices. Platforms without a selected device are left out. Throws ConfigError, with a list of the
/// node's devices, when an element selects nothing.
/// @param spec elements separated by commas, each an index into all of the node's devices, a type (cpu, gpu,
/// accelerator), a part of a name in upper or lower case, or `all`; empty: all but the processors, and these
/// where there is nothing else
std::vector<SelectedPlatform> select_devices(const std::string& spec,
                                             const std::vector<ListedPlatform>& platforms);

/// The node's devices.
struct NodeDevices {
  std::vector<ListedPlatform> all;
  std::vector<SelectedPlatform> served;
};

/// For each driver that is served, the devices that one client may use: positions in
/// SelectedPlatform::devices, ascending.
using DeviceSubset = std::vector<std::vector<std::uint32_t>>;

/// The devices that are served and that `spec` selects as well. Throws as select_devices() does.
DeviceSubset select_subset(const std::string& spec, const NodeDevices& devices);

/// A line for each device: index, type and name.
std::string device_table(const std::vector<ListedPlatform>& platforms);

}  // namespace clique::daemon
