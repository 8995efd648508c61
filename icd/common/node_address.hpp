#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/version.hpp"

namespace clique::icd {

/// The address of a daemon, as the user wrote it.
struct NodeAddress {
  std::string host;  ///< name or address; IPv6 addresses without brackets; or vsock:CID
  std::uint16_t port = protocol::kDefaultPort;

  /// As in CLIQUE_NODES.
  std::string text() const;
  bool operator==(const NodeAddress&) const = default;
};

/// Reads one node: HOST, HOST:PORT, [IPv6 ADDRESS]:PORT, vsock:CID or vsock:CID:PORT. Throws SettingError,
/// which does not say where the text comes from.
NodeAddress parse_node(std::string_view text);
/// Reads the nodes that one entry stands for: a node, or a host list (expand_host_list). Throws SettingError,
/// as parse_node().
std::vector<NodeAddress> parse_nodes(std::string_view entry);
/// Reads entries separated by commas outside of brackets. Ignores blanks and empty entries. Throws
/// SettingError.
std::vector<NodeAddress> parse_node_list(std::string_view text);
/// Removes nodes that are in the list already. @returns the removed ones
std::vector<NodeAddress> remove_repeated(std::vector<NodeAddress>& nodes);

}  // namespace clique::icd
