#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace clique::daemon {

/// A port from 0 to 65535. Throws std::invalid_argument.
std::uint16_t parse_port(std::string_view text);

/// TCP ports that sockets may be bound to; by default none.
struct PortRange {
  std::uint16_t first = 0;  ///< 0: any port, or none
  std::uint16_t last = 0;   ///< inclusive; 0: none
  bool none() const { return last == 0; }
  bool any() const { return first == 0 && !none(); }
  bool operator==(const PortRange&) const = default;
};
inline constexpr PortRange kAnyPort{0, 65535};

/// "FIRST-LAST", "any" or "none". Throws std::invalid_argument.
PortRange parse_ports(std::string_view text);

/// What parse_ports() reads.
std::string to_text(const PortRange& ports);

}  // namespace clique::daemon
