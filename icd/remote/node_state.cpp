#include "icd/remote/node_state.hpp"

#include "icd/remote/daemon_connection.hpp"
#include "icd/remote/first_address.hpp"
#include "icd/remote/threads.hpp"

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
      return status;
    });
  } catch (const std::exception& error) {
    state.failure = error.what();
  }
  return state;
}

}  // namespace

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
