// Default places of the key files, unless a setting or an option names others.
#pragma once

#include <string_view>

namespace clique::protocol {

inline constexpr std::string_view kNodeIdentity = "/etc/clique/node.key";
inline constexpr std::string_view kAuthorizedClients = "/etc/clique/authorized-clients";
/// The nodes that all users of a host trust.
inline constexpr std::string_view kSystemKnownNodes = "/etc/clique/known-nodes";
/// Names in the folder of a user's settings.
inline constexpr std::string_view kClientIdentityName = "client.key";
inline constexpr std::string_view kKnownNodesName = "known-nodes";

}  // namespace clique::protocol
