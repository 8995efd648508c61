#include "protocol/socket_address.hpp"

#include <netdb.h>
// The next header needs it.
#include <sys/socket.h>

#include <linux/vm_sockets.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <stdexcept>

namespace clique::protocol {

namespace {

constexpr std::string_view kVsockScheme = "vsock://";

/// The addresses that getaddrinfo() finds. @returns its error, or 0
int look_up(const std::string& host, const std::string& port, int flags, std::vector<SocketAddress>& found) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* list = nullptr;
  const int error = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &list);
  if (error != 0) return error;
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(list, ::freeaddrinfo);
  for (const addrinfo* one = list; one != nullptr; one = one->ai_next)
    found.emplace_back(one->ai_addr, one->ai_addrlen);
  return 0;
}

std::string without_brackets(std::string_view host) {
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  return std::string(host);
}

}  // namespace

std::optional<std::uint32_t> vsock_cid(std::string_view host) {
  if (!host.starts_with(kVsockPrefix)) return std::nullopt;
  host.remove_prefix(kVsockPrefix.size());
  std::uint32_t cid = 0;
  const auto [end, error] = std::from_chars(host.data(), host.data() + host.size(), cid);
  // The largest number stands for any machine, and is nobody's address.
  if (error != std::errc() || end != host.data() + host.size() || cid == VMADDR_CID_ANY) return std::nullopt;
  return cid;
}

SocketAddress::SocketAddress(const sockaddr* address, socklen_t size)
    : size_(std::min<socklen_t>(size, sizeof storage_)) {
  std::memcpy(&storage_, address, size_);
}

bool SocketAddress::refused(int error) const {
  // vsock resets a connection that is refused.
  return error == ECONNREFUSED || (family() == AF_VSOCK && error == ECONNRESET);
}

SocketAddress vsock_address(std::uint32_t cid, std::uint16_t port) {
  sockaddr_vm address{};
  address.svm_family = AF_VSOCK;
  address.svm_cid = cid;
  address.svm_port = port;
  return {reinterpret_cast<const sockaddr*>(&address), sizeof address};
}

std::optional<SocketAddress> numeric_address(std::string_view host, std::uint16_t port) {
  if (const auto cid = vsock_cid(host)) return vsock_address(*cid, port);
  std::vector<SocketAddress> found;
  if (look_up(without_brackets(host), std::to_string(port), AI_NUMERICHOST | AI_NUMERICSERV, found) != 0)
    return std::nullopt;
  return found.front();
}

AddressText text_of(const sockaddr_storage& address, socklen_t size) {
  if (address.ss_family == AF_VSOCK) {
    const auto& vsock = reinterpret_cast<const sockaddr_vm&>(address);
    std::string host = std::string(kVsockPrefix) + std::to_string(vsock.svm_cid);
    std::string whole = host + ":" + std::to_string(vsock.svm_port);
    return {std::move(host), std::move(whole)};
  }
  char host[NI_MAXHOST];
  char port[NI_MAXSERV];
  if (::getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return {"?", "?:?"};
  const std::string shown = std::strchr(host, ':') == nullptr ? host : "[" + std::string(host) + "]";
  return {host, shown + ":" + port};
}

std::string endpoint_of(const std::string& host, std::uint16_t port) {
  const std::string number = std::to_string(port);
  if (const auto cid = vsock_cid(host))
    return std::string(kVsockScheme) + std::to_string(*cid) + ":" + number;
  const bool bare = host.find(':') != std::string::npos && !host.starts_with('[');
  return "tcp://" + (bare ? "[" + host + "]" : host) + ":" + number;
}

std::vector<SocketAddress> addresses_of(const std::string& endpoint, bool numeric) {
  const auto scheme = endpoint.find("://");
  const auto colon = endpoint.rfind(':');
  if (scheme == std::string::npos || colon < scheme + 3)
    throw std::runtime_error("'" + endpoint + "' is neither tcp://HOST:PORT nor vsock://CID:PORT");
  const std::string host = endpoint.substr(scheme + 3, colon - scheme - 3);
  const std::string port = endpoint.substr(colon + 1);
  std::vector<SocketAddress> found;
  if (endpoint.starts_with(kVsockScheme)) {
    std::uint16_t number = 0;
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
    const auto cid = vsock_cid(std::string(kVsockPrefix) + host);
    if (!cid || error != std::errc() || end != port.data() + port.size())
      throw std::runtime_error("'" + endpoint + "' is not vsock://CID:PORT");
    found.push_back(vsock_address(*cid, number));
    return found;
  }
  const int flags = numeric ? AI_NUMERICHOST | AI_NUMERICSERV : 0;
  if (const int error = look_up(without_brackets(host), port, flags, found); error != 0)
    throw std::runtime_error("the name " + host + " cannot be resolved: " + ::gai_strerror(error));
  return found;
}

}  // namespace clique::protocol
