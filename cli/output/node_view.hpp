// What the subcommands that look at nodes, or steer them, have in common.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "icd/common/settings.hpp"
#include "icd/remote/nodes/node_state.hpp"
#include "icd/remote/nodes/trust.hpp"

namespace clique::cli {

/// Asks nodes, with this user's settings and keys.
class NodeView {
 public:
  /// @param named as in CLIQUE_NODES; empty: the configured nodes, and without any the daemon of this host.
  /// Throws Failed and SettingError.
  explicit NodeView(const std::vector<std::string>& named);

  const std::vector<icd::NodeAddress>& nodes() const { return nodes_; }
  /// Asks all nodes at the same time, which takes the connect timeout at most.
  std::vector<icd::NodeState> look() const;
  /// Has all nodes that have answered try to reach each other.
  std::vector<icd::NodeRoute> routes(const std::vector<icd::NodeState>& states) const;
  /// Has a node do what the message says. @returns the node's own name, to be printed. Throws Failed.
  std::string steer(const icd::NodeAddress& node, const protocol::Steer& steer) const;

 private:
  icd::NodeSettings settings_;
  std::vector<icd::NodeAddress> nodes_;
  icd::Trust trust_;
};

/// "up", "draining" or "unreachable".
std::string_view state_word(const icd::NodeState& state);
/// The same with the reason, to be printed.
std::string state_text(const icd::NodeState& state);
/// The node's own name, or the address as the user wrote it; to be printed.
std::string node_name(const icd::NodeState& state);
/// Such as "cpu" or "gpu". @param type cl_device_type
std::string_view device_type(std::uint64_t type);
/// Such as "2 GPUs, 1 CPU".
std::string devices_text(const protocol::Status& status);
/// Such as "3/8": how many sessions run, and how many may at most.
std::string sessions_text(const protocol::Status& status);
/// The round trip in milliseconds, such as "0.05 ms".
std::string round_trip_text(const icd::NodeState& state);

/// A file system with less free space is as good as full. Containers have 62 MiB in /dev/shm by default.
inline constexpr std::uint64_t kLeastSpace = 32ULL << 20U;

/// Something that a node's host lacks. The texts are to be printed.
struct HealthProblem {
  bool bad = false;  ///< programs may fail; otherwise they work without it
  std::string text;
  std::string remedy;
};
std::vector<HealthProblem> health_problems(const protocol::Status& status);

/// A route between two nodes that does not work: which, and why. To be printed.
std::string broken_text(const icd::NodeRoute& route, const std::vector<icd::NodeState>& states);
/// What to do about it, and where. To be printed.
std::string remedy_of(const icd::NodeRoute& route, const std::vector<icd::NodeState>& states);

/// Everything but the sessions.
nlohmann::ordered_json json_of(const icd::NodeState& state);
nlohmann::ordered_json json_of(const protocol::SessionStatus& session);
/// A key, and the file that lists or contains it.
nlohmann::ordered_json json_of(const protocol::PublicKey& key, const std::string& file);
/// null for what is not known.
nlohmann::ordered_json json_of_known(std::uint64_t number);
nlohmann::ordered_json json_of_text(const std::string& text);

/// Throws Failed if the reason is too long for a message.
void check_reason(const std::string& reason);

}  // namespace clique::cli
