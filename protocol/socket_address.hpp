// Addresses of sockets: IPv4, IPv6, and vsock, by which virtual machines and their host reach each other.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clique::protocol {

/// What hosts that are reached through vsock begin with: "vsock:CID". CID is the number of a virtual machine;
/// 2 is its host, and 1 the same machine.
inline constexpr std::string_view kVsockPrefix = "vsock:";

/// The number in "vsock:CID"; nothing if the host is something else.
std::optional<std::uint32_t> vsock_cid(std::string_view host);

/// An address and a port, as system calls take them.
class SocketAddress {
 public:
  SocketAddress(const sockaddr* address, socklen_t size);

  int family() const { return storage_.ss_family; }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  socklen_t size() const { return size_; }
  /// Whether this error of a connection to the address means that nobody listens at the port.
  bool refused(int error) const;

 private:
  sockaddr_storage storage_{};
  socklen_t size_;
};

/// The address of a vsock port. @param cid VMADDR_CID_ANY: of this machine, for whoever reaches it
SocketAddress vsock_address(std::uint32_t cid, std::uint16_t port);

/// Reads a numeric host: an IPv4 address, an IPv6 address, also in brackets, or vsock:CID. Nothing if it is
/// something else.
std::optional<SocketAddress> numeric_address(std::string_view host, std::uint16_t port);

/// A socket's other end, or one that listens, for logs: "ADDRESS:PORT", and the address alone.
struct AddressText {
  std::string host;
  std::string whole;
};
AddressText text_of(const sockaddr_storage& address, socklen_t size);

/// A host (IPv6 with or without brackets, or vsock:CID) and a port as an endpoint: tcp://HOST:PORT, or
/// vsock://CID:PORT.
std::string endpoint_of(const std::string& host, std::uint16_t port);

/// The addresses of such an endpoint, in the order in which to try them. Throws std::runtime_error with the
/// reason.
/// @param numeric the host is an address: asks no name server
std::vector<SocketAddress> addresses_of(const std::string& endpoint, bool numeric);

}  // namespace clique::protocol
