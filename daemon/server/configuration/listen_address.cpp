#include "daemon/server/configuration/listen_address.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <memory>
#include <stdexcept>

#include "daemon/common/port_range.hpp"
#include "protocol/printable.hpp"
#include "protocol/version.hpp"

namespace clique::daemon {

namespace {

constexpr const char* kFormat = "write HOST:PORT, such as 0.0.0.0:7890";

using protocol::in_quotes;

/// Removes the host from the beginning of `text`.
std::string split_host(std::string_view& text) {
  const std::string_view whole = text;
  if (text.starts_with('[')) {
    const auto end = text.find(']');
    if (end == std::string_view::npos)
      throw std::invalid_argument(in_quotes(whole) +
                                  " lacks the ']' after the IPv6 address; write [ADDRESS]:PORT");
    text.remove_prefix(end + 1);
    return std::string(whole.substr(1, end - 1));
  }
  const auto colon = text.find(':');
  if (colon != std::string_view::npos && text.find(':', colon + 1) != std::string_view::npos)
    throw std::invalid_argument(in_quotes(whole) +
                                " has several colons; write an IPv6 address in brackets, such as [::1]:7890");
  text.remove_prefix(colon == std::string_view::npos ? text.size() : colon);
  return std::string(whole.substr(0, colon));
}

}  // namespace

std::string ListenAddress::endpoint() const {
  const bool v6 = address.find(':') != std::string::npos;
  return "tcp://" + (v6 ? "[" + address + "]" : address) + ":" + std::to_string(port);
}

ListenAddress parse_listen(std::string_view text) {
  const std::string_view whole = text;
  std::string host = split_host(text);
  ListenAddress result;
  result.port = protocol::kDefaultPort;
  if (!text.empty()) {
    if (text[0] != ':')
      throw std::invalid_argument(in_quotes(whole) + " is not an address to listen on; " + kFormat);
    result.port = parse_port(text.substr(1));
  }

  if (host.empty()) host = "127.0.0.1";
  if (host == "*") host = "0.0.0.0";
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), nullptr, &hints, &found); error != 0)
    throw std::invalid_argument("host " + in_quotes(host) + " of " + in_quotes(whole) +
                                " cannot be resolved: " + ::gai_strerror(error) +
                                "; write an address or a host name of this node");
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
  char numeric[NI_MAXHOST];
  if (::getnameinfo(found->ai_addr, found->ai_addrlen, numeric, sizeof numeric, nullptr, 0, NI_NUMERICHOST) !=
      0)
    throw std::invalid_argument("host " + in_quotes(host) + " of " + in_quotes(whole) +
                                " has no numeric address; write an address of this node");
  result.address = numeric;
  result.loopback = found->ai_family == AF_INET6
                        ? IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<sockaddr_in6*>(found->ai_addr)->sin6_addr)
                        : result.address.starts_with("127.");
  return result;
}

}  // namespace clique::daemon
