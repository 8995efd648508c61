#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace clique::daemon {

/// A port from 0 to 65535. Throws std::invalid_argument.
std::uint16_t parse_port(std::string_view text);

/// TCP ports that sockets may be bound to.
struct PortRange {
  std::uint16_t first = 0;  ///< 0: any port
  std::uint16_t last = 0;   ///< inclusive
  bool any() const { return first == 0; }
  bool operator==(const PortRange&) const = default;
};

/// "FIRST-LAST", or an empty text for any port. Throws std::invalid_argument.
PortRange parse_ports(std::string_view text);

/// What parse_ports() reads.
std::string to_text(const PortRange& ports);

}  // namespace clique::daemon
