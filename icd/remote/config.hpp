// Which nodes the user wants.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/version.hpp"

namespace clique::icd {

/// A configuration that cannot be used. what() tells people where it is, what is wrong and what to write
/// instead.
class ConfigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A daemon as the user named it.
struct NodeAddress {
  std::string host;  ///< name or address; IPv6 without brackets
  std::uint16_t port = protocol::kDefaultPort;

  /// As in CLIQUE_NODES.
  std::string text() const;
  bool operator==(const NodeAddress&) const = default;
};

struct Config {
  std::vector<NodeAddress> nodes;  ///< empty: private workers on this host
  /// For reaching a node: finding its address, connecting, and the daemon's and workers' answers.
  std::chrono::milliseconds connect_timeout{3000};
  /// Whether memory is shared with workers on this host.
  bool shared_memory = true;

  /// Environment and files as they are: CLIQUE_NODES, else $XDG_CONFIG_HOME/clique/nodes.toml (~/.config
  /// where that is not set), else /etc/clique/nodes.toml. CLIQUE_CONNECT_TIMEOUT_MS goes before the file's
  /// timeout. CLIQUE_SHARED_MEMORY is 0, 1 or not set. CLIQUE_SPIN_US is only checked. Throws ConfigError.
  static Config read();

  using Environment = std::function<std::optional<std::string>(const char* name)>;
  /// read() with another environment and another file instead of the one in /etc.
  static Config read(const Environment& environment, const std::string& system_file);
};

/// One node: `host`, `host:port`, `[v6 address]:port`. Throws ConfigError without the place.
NodeAddress parse_node(std::string_view text);
/// Nodes between commas; spaces and empty entries do not count. Throws ConfigError.
std::vector<NodeAddress> parse_node_list(std::string_view text);
/// A nodes.toml: `nodes = ["a", "b:7890"]`, `connect_timeout_ms = 3000`, and [[node]] tables with `host` and
/// `port`.
/// @param path for messages only. Throws ConfigError.
Config parse_toml(std::string_view text, const std::string& path);

}  // namespace clique::icd
