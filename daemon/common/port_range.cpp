#include "daemon/common/port_range.hpp"

#include <charconv>
#include <stdexcept>

namespace clique::daemon {

std::uint16_t parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size())
    throw std::invalid_argument("'" + std::string(text) + "' is not a port; write a number from 0 to 65535");
  return port;
}

PortRange parse_ports(std::string_view text) {
  if (text == "none") return {};
  if (text == "any") return kAnyPort;
  const auto dash = text.find('-');
  if (dash == std::string_view::npos)
    throw std::invalid_argument(
        "'" + std::string(text) +
        "' is not a range of ports; write FIRST-LAST, such as 7900-7999, or any, or none");
  const PortRange range{parse_port(text.substr(0, dash)), parse_port(text.substr(dash + 1))};
  if (range.first == 0 || range.last < range.first)
    throw std::invalid_argument("'" + std::string(text) +
                                "' is an empty range of ports; write FIRST-LAST, such as 7900-7999");
  return range;
}

std::string to_text(const PortRange& ports) {
  if (ports.none()) return "none";
  return ports.any() ? "any" : std::to_string(ports.first) + "-" + std::to_string(ports.last);
}

}  // namespace clique::daemon
