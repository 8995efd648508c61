// The devices that a program is offered.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "icd/remote/nodes/nodes.hpp"

namespace clique::icd {

struct Selection {
  /// Positions in the list of all devices (of all drivers of all nodes), in the order in which the program
  /// sees them.
  std::vector<std::size_t> positions;
  std::vector<std::string> problems;  ///< texts for people
};

/// Selects devices as CLIQUE_DEVICES and the nodes' DeviceUse demand. If these depend on the devices' load,
/// asks the nodes, which takes the connect timeout at most for each program that looks for devices at the
/// same moment.
/// @param choice a value of CLIQUE_DEVICES
/// @param claim reserve the least loaded devices, and have the nodes open sessions for those that are
/// selected; otherwise nodes are only asked
Selection select_devices(std::span<const std::unique_ptr<Node>> nodes, const std::string& choice, bool claim);

}  // namespace clique::icd
