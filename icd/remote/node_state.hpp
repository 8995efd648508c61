// Looking at nodes, and steering them.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "icd/common/node_address.hpp"
#include "icd/common/settings.hpp"
#include "icd/remote/trust.hpp"
#include "protocol/messages/status.hpp"

namespace clique::icd {

/// A node's answer.
struct NodeState {
  NodeAddress node;
  std::optional<protocol::Status> status;   ///< nothing: the node cannot be reached
  std::string failure;                      ///< why; completes "node … cannot be reached: …"
  std::chrono::microseconds round_trip{0};  ///< of the connection, as the operating system measures it
};

/// Asks all nodes at the same time. Takes the connect timeout at most.
std::vector<NodeState> look_at_nodes(const std::vector<NodeAddress>& nodes,
                                     std::chrono::milliseconds connect_timeout, const Trust& trust);

/// Has a node do what the message says. @returns the node's own name
/// Throws Unreachable, also if the node refuses.
std::string steer_node(const NodeAddress& node, const protocol::Steer& steer,
                       std::chrono::milliseconds connect_timeout, const Trust& trust);

}  // namespace clique::icd
