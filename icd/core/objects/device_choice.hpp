#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace clique::icd {

/// What CLIQUE_DEVICES (platform.hpp) can name a device by.
struct DeviceNames {
  std::string device;
  std::string node;
};

struct DeviceChoice {
  std::vector<std::size_t> positions;  ///< each once, in the order of the choice
  std::vector<std::string> unmatched;  ///< entries that no device matches
};

/// The devices that `choice`, a value of CLIQUE_DEVICES, stands for.
DeviceChoice choose_devices(std::span<const DeviceNames> devices, std::string_view choice);

}  // namespace clique::icd
