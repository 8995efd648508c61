#pragma once

#include <cstddef>
#include <optional>
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
  /// How many of these devices, the least loaded ones, are to be offered; nothing: all.
  std::optional<std::size_t> idle;
};

/// The devices that `choice`, a value of CLIQUE_DEVICES, selects; all if it has no entries but `idle` and
/// `idle:N`, the last of which counts.
DeviceChoice choose_devices(std::span<const DeviceNames> devices, std::string_view choice);

}  // namespace clique::icd
