#include "icd/remote/nodes/node_state.hpp"

#include <algorithm>
#include <iterator>
#include <span>

#include "icd/remote/nodes/daemon_connection.hpp"
#include "icd/remote/nodes/first_address.hpp"
#include "icd/remote/threads.hpp"
#include "icd/remote/worker_endpoint.hpp"
#include "protocol/socket_address.hpp"

namespace clique::icd {

namespace {

NodeState look_at(const NodeAddress& node, std::chrono::milliseconds connect_timeout, const Trust& trust) {
  const auto deadline = std::chrono::steady_clock::now() + connect_timeout;
  NodeState state{node, std::nullopt, {}};
  try {
    state.status = with_first_address(node.host, deadline, [&](const std::string& address, auto patience) {
      DaemonConnection daemon(node, address, trust);
      protocol::Status status = daemon.ask_for_status(patience);
      state.round_trip = daemon.round_trip();
      state.key = daemon.key();
      return status;
    });
  } catch (const std::exception& error) {
    state.failure = error.what();
  }
  return state;
}

/// The part of the time for a request in which the node may try to reach others; the rest is for its answer.
constexpr double kPartForRoutes = 0.7;

/// Has the node at which the routes begin try some of them.
void try_routes(const NodeState& from, const std::vector<NodeState>& states, std::span<NodeRoute> routes,
                std::chrono::milliseconds connect_timeout, const Trust& trust) {
  const auto deadline = std::chrono::steady_clock::now() + connect_timeout;
  protocol::Reach request;
  request.patience_ms =
      static_cast<std::uint32_t>(static_cast<double>(connect_timeout.count()) * kPartForRoutes);
  for (const NodeRoute& route : routes) request.endpoints.push_back(route.endpoint);
  try {
    const protocol::Reached reached =
        with_first_address(from.node.host, deadline, [&](const std::string& address, auto patience) {
          return DaemonConnection(from.node, address, trust).reach(request, patience);
        });
    if (reached.nodes.size() != routes.size())
      throw Unreachable("its cliqued answers for " + std::to_string(reached.nodes.size()) +
                        " nodes instead of " + std::to_string(routes.size()));
    for (std::size_t i = 0; i < routes.size(); ++i) {
      const protocol::ReachedNode& node = reached.nodes[i];
      NodeRoute& route = routes[i];
      route.outcome = node.outcome;
      route.round_trip = std::chrono::microseconds(node.round_trip_us);
      if (node.outcome != protocol::ReachedNode::Outcome::Reached) {
        route.reason = node.reason.empty() ? "it does not say why" : node.reason;
        continue;
      }
      const auto& expected = states[route.to].key.bytes();
      route.astray = !std::equal(node.key.begin(), node.key.end(), expected.begin(), expected.end());
      if (route.astray) route.reason = "another node answers there";
    }
  } catch (const std::exception& error) {
    for (NodeRoute& route : routes) route.reason = error.what();
  }
}

}  // namespace

std::vector<NodeRoute> routes_between(const std::vector<NodeState>& states,
                                      std::chrono::milliseconds connect_timeout, const Trust& trust) {
  std::vector<std::vector<NodeRoute>> routes(states.size());
  in_parallel(states.size(), [&](std::size_t from) {
    if (!states[from].status) return;
    for (std::size_t to = 0; to < states.size(); ++to) {
      if (to == from || !states[to].status) continue;
      const NodeAddress& node = states[to].node;
      routes[from].push_back(
          {from, to, protocol::endpoint_of(host_for_nodes(node, states[to].status->advertise), node.port)});
    }
    const std::span all(routes[from]);
    for (std::size_t i = 0; i < all.size(); i += protocol::kMostReached)
      try_routes(states[from], states, all.subspan(i, std::min(protocol::kMostReached, all.size() - i)),
                 connect_timeout, trust);
  });
  std::vector<NodeRoute> result;
  for (std::vector<NodeRoute>& each : routes) std::move(each.begin(), each.end(), std::back_inserter(result));
  return result;
}

std::vector<NodeState> look_at_nodes(const std::vector<NodeAddress>& nodes,
                                     std::chrono::milliseconds connect_timeout, const Trust& trust) {
  std::vector<NodeState> states(nodes.size());
  in_parallel(nodes.size(), [&](std::size_t i) { states[i] = look_at(nodes[i], connect_timeout, trust); });
  return states;
}

std::string steer_node(const NodeAddress& node, const protocol::Steer& steer,
                       std::chrono::milliseconds connect_timeout, const Trust& trust) {
  const auto deadline = std::chrono::steady_clock::now() + connect_timeout;
  return with_first_address(node.host, deadline, [&](const std::string& address, auto patience) {
    return DaemonConnection(node, address, trust).steer(steer, patience).node;
  });
}

}  // namespace clique::icd
