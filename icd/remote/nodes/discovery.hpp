// Finding the nodes that announce themselves, for `nodes = "auto"`.
#pragma once

#include <string>
#include <vector>

#include "icd/common/settings.hpp"

namespace clique::icd {

/// What was found. Others in the network choose the names.
struct Discovery {
  std::vector<NodeAddress> nodes;      ///< whose keys this user knows; those of DNS come first
  std::vector<NodeAddress> strangers;  ///< the others, which are not used
  std::vector<std::string> failures;   ///< why a way of looking for nodes cannot be used, for people
};

/// Asks DNS for the SRV records `_clique._tcp` of the search domains, and Avahi for services of this type in
/// the local network, both at the same time. Takes the connect timeout at most. Throws SettingError if the
/// lists of known nodes cannot be read.
Discovery discover_nodes(const NodeSettings& settings);

/// Puts the nodes that were found into the settings if these say `auto`. @returns texts for people: what is
/// wrong
std::vector<std::string> settle_nodes(NodeSettings& settings);

/// A service that somebody announces.
struct Announced {
  std::string host;  ///< without a dot at the end
  std::uint16_t port = 0;
  auto operator<=>(const Announced&) const = default;
};

/// Splits announced services by whether the user knows keys of such nodes: under the full name, or under its
/// first part. Each node appears once, in the order of the list.
Discovery sort_out(const std::vector<Announced>& announced, const SecuritySettings& security);

/// The targets of SRV records in an answer of DNS, those with the lowest priority first. Throws
/// std::runtime_error if the answer is malformed.
std::vector<Announced> parse_srv(const unsigned char* answer, std::size_t size);

}  // namespace clique::icd
