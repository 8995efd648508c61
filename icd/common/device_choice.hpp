#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace clique::icd {

/// The names by which CLIQUE_DEVICES can choose a device.
struct DeviceNames {
  std::string device;
  std::string node;
  std::string uuid = {};  ///< protocol::uuid_text(); empty: it has none
};

struct DeviceChoice {
  std::vector<std::size_t> positions;  ///< each once, in the order of the choice
  std::vector<std::string> unmatched;  ///< entries that match no device
};

/// The devices that `choice`, a value of CLIQUE_DEVICES, selects.
DeviceChoice choose_devices(std::span<const DeviceNames> devices, std::string_view choice);

}  // namespace clique::icd
