#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace clique::daemon {

/// Where cliqued listens.
struct ListenAddress {
  std::string address;     ///< numeric; IPv6 without brackets
  std::uint16_t port = 0;  ///< 0: any that is free
  bool loopback = false;
  /// As a ZeroMQ endpoint.
  std::string endpoint() const;
};

/// HOST, HOST:PORT or :PORT, where HOST is a name, an IPv4 address, an [IPv6 address] or '*'. The port is
/// protocol::kDefaultPort, and the host 127.0.0.1, if they are left out. Looks names up. Throws
/// std::invalid_argument.
ListenAddress parse_listen(std::string_view text);

}  // namespace clique::daemon
