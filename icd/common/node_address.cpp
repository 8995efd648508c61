#include "icd/common/node_address.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <utility>

#include "icd/common/host_list.hpp"
#include "icd/common/setting_text.hpp"
#include "icd/common/settings.hpp"
#include "protocol/socket_address.hpp"

namespace clique::icd {

namespace {

std::uint16_t parse_port(std::string_view text, std::string_view node) {
  unsigned port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port == 0 || port > 65535)
    throw SettingError("node " + in_quotes(node) + ": " + in_quotes(text) +
                       " is not a port; write a number from 1 to 65535 after the colon");
  return static_cast<std::uint16_t>(port);
}

/// Whether the name or address of a host may contain the character.
bool is_of_host(char c) {
  constexpr std::string_view kOthers = "/[]\x7f";
  return static_cast<unsigned char>(c) > ' ' && kOthers.find(c) == std::string_view::npos;
}

}  // namespace

std::string NodeAddress::text() const {
  // In brackets, a host of the name vsock is not the beginning of a vsock address.
  const bool bare = host.find(':') == std::string::npos ? host + ":" != protocol::kVsockPrefix
                                                        : host.starts_with(protocol::kVsockPrefix);
  const std::string shown = bare ? host : "[" + host + "]";
  return shown + ":" + std::to_string(port);
}

NodeAddress parse_node(std::string_view text) {
  const std::string_view node = trimmed(text);
  NodeAddress address;
  std::string_view rest;
  if (const auto scheme = node.find("://"); scheme != std::string_view::npos)
    throw SettingError("node " + in_quotes(node) + " is not a host; write it without " +
                       in_quotes(node.substr(0, scheme + 3)));
  if (node.starts_with(protocol::kVsockPrefix)) {
    const auto colon = std::min(node.find(':', protocol::kVsockPrefix.size()), node.size());
    address.host = node.substr(0, colon);
    rest = node.substr(colon);
    if (!protocol::vsock_cid(address.host))
      throw SettingError("node " + in_quotes(node) +
                         ": after 'vsock:' comes the number of a machine (2 is the host of this virtual "
                         "machine); write vsock:CID or vsock:CID:PORT");
  } else if (node.starts_with('[')) {
    const auto close = node.find(']');
    if (close == std::string_view::npos)
      throw SettingError("node " + in_quotes(node) + ": the bracket is not closed; write [address]:port");
    address.host = node.substr(1, close - 1);
    rest = node.substr(close + 1);
  } else if (std::count(node.begin(), node.end(), ':') > 1) {
    address.host = node;  // an IPv6 address, which cannot have a port without brackets
  } else {
    const auto colon = std::min(node.find(':'), node.size());
    address.host = node.substr(0, colon);
    rest = node.substr(colon);
  }
  if (address.host.empty())
    throw SettingError("node " + in_quotes(node) + " has no host; write host or host:port");
  if (!std::all_of(address.host.begin(), address.host.end(), is_of_host))
    throw SettingError(
        "node " + in_quotes(node) +
        " is not a host; write host, host:port or [v6 address]:port, and commas between nodes");
  if (rest.empty()) return address;
  if (rest.front() != ':')
    throw SettingError("node " + in_quotes(node) + ": " + in_quotes(rest) +
                       " after the address; write [address]:port");
  address.port = parse_port(rest.substr(1), node);
  return address;
}

std::vector<NodeAddress> parse_nodes(std::string_view entry) {
  std::vector<NodeAddress> nodes;
  for (const std::string& node : expand_host_list(trimmed(entry))) nodes.push_back(parse_node(node));
  return nodes;
}

std::vector<NodeAddress> parse_node_list(std::string_view text) {
  std::vector<NodeAddress> nodes;
  while (!text.empty()) {
    bool inside = false;
    const auto* const comma = std::find_if(text.begin(), text.end(), [&inside](char c) {
      inside = c == '[' || (inside && c != ']');
      return c == ',' && !inside;
    });
    const auto size = static_cast<std::size_t>(comma - text.begin());
    const std::string_view entry = trimmed(text.substr(0, size));
    if (!entry.empty()) {
      const auto more = parse_nodes(entry);
      nodes.insert(nodes.end(), more.begin(), more.end());
    }
    text.remove_prefix(std::min(size + 1, text.size()));
  }
  return nodes;
}

std::vector<NodeAddress> remove_repeated(std::vector<NodeAddress>& nodes) {
  std::vector<NodeAddress> once;
  std::vector<NodeAddress> repeated;
  for (NodeAddress& node : nodes) {
    auto& list = std::find(once.begin(), once.end(), node) == once.end() ? once : repeated;
    list.push_back(std::move(node));
  }
  nodes = std::move(once);
  return repeated;
}

}  // namespace clique::icd
