// Looking at nodes, and steering them.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "icd/common/node_address.hpp"
#include "icd/common/settings.hpp"
#include "icd/remote/nodes/trust.hpp"
#include "protocol/messages/status.hpp"

namespace clique::icd {

/// A node's answer.
struct NodeState {
  NodeAddress node;
  std::optional<protocol::Status> status;   ///< nothing: the node cannot be reached
  std::string failure;                      ///< why; completes "node … cannot be reached: …"
  std::chrono::microseconds round_trip{0};  ///< of the connection, as the operating system measures it
  protocol::PublicKey key = {};             ///< that the node has proven, if it has answered
};

/// Whether one node can connect to another one, as the workers of sessions have to.
struct NodeRoute {
  std::size_t from = 0;  ///< positions among the nodes
  std::size_t to = 0;
  std::string endpoint;  ///< by which `from` tries to reach `to`: tcp://HOST:PORT
  /// What came of it. Nothing: `from` could not be asked, or has not answered.
  std::optional<protocol::ReachedNode::Outcome> outcome = {};
  bool astray = false;      ///< `from` has reached another node than `to`
  std::string reason = {};  ///< why it does not work; empty: it does
  std::chrono::microseconds round_trip{0};

  bool works() const { return reason.empty(); }
};

/// Asks all nodes at the same time. Takes the connect timeout at most.
std::vector<NodeState> look_at_nodes(const std::vector<NodeAddress>& nodes,
                                     std::chrono::milliseconds connect_timeout, const Trust& trust);

/// Has every node that has answered try to reach all others that have, all at the same time. Takes the
/// connect timeout for each kMostReached nodes at most.
/// @returns all routes, those from one node behind each other
std::vector<NodeRoute> routes_between(const std::vector<NodeState>& states,
                                      std::chrono::milliseconds connect_timeout, const Trust& trust);

/// Has a node do what the message says. @returns the node's own name
/// Throws Unreachable, also if the node refuses.
std::string steer_node(const NodeAddress& node, const protocol::Steer& steer,
                       std::chrono::milliseconds connect_timeout, const Trust& trust);

}  // namespace clique::icd
