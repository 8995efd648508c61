#include "protocol/security/socket_owner.hpp"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "protocol/fd.hpp"

namespace clique::protocol {

namespace {

struct Request {
  nlmsghdr header{};
  inet_diag_req_v2 body{};
};

/// Fills in an address and its port. @returns false if it is neither IPv4 nor IPv6
bool put(const sockaddr_storage& from, std::uint8_t& family, __be32 (&address)[4], __be16& port) {
  if (from.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(from);
    family = AF_INET;
    address[0] = v4.sin_addr.s_addr;
    port = v4.sin_port;
    return true;
  }
  if (from.ss_family != AF_INET6) return false;
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(from);
  family = AF_INET6;
  std::memcpy(address, &v6.sin6_addr, sizeof address);
  port = v6.sin6_port;
  return true;
}

}  // namespace

SocketOwners::SocketOwners() : netlink_(::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG)) {}

std::optional<uid_t> owner_of_other_end(int socket) {
  return SocketOwners().of_other_end(socket);
}

std::optional<uid_t> SocketOwners::of_other_end(int socket) {
  sockaddr_storage ours{};
  sockaddr_storage theirs{};
  socklen_t size = sizeof ours;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&ours), &size) != 0) return std::nullopt;
  size = sizeof theirs;
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&theirs), &size) != 0) return std::nullopt;

  Request request;
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  request.header.nlmsg_flags = NLM_F_REQUEST;
  request.header.nlmsg_seq = ++sequence_;
  request.body.sdiag_protocol = IPPROTO_TCP;
  request.body.idiag_states = ~0U;
  request.body.id.idiag_cookie[0] = INET_DIAG_NOCOOKIE;
  request.body.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  // The socket at the other end: its source is our destination.
  if (!put(theirs, request.body.sdiag_family, request.body.id.idiag_src, request.body.id.idiag_sport) ||
      !put(ours, request.body.sdiag_family, request.body.id.idiag_dst, request.body.id.idiag_dport))
    return std::nullopt;

  constexpr timeval kLimit{1, 0};
  if (!netlink_ || ::setsockopt(netlink_.get(), SOL_SOCKET, SO_RCVTIMEO, &kLimit, sizeof kLimit) != 0 ||
      ::send(netlink_.get(), &request, sizeof request, 0) != sizeof request)
    return std::nullopt;
  alignas(nlmsghdr) std::array<char, 4096> answer;
  ssize_t received = 0;
  do {
    received = ::recv(netlink_.get(), answer.data(), answer.size(), 0);
  } while (received < 0 && errno == EINTR);
  if (received < 0) return std::nullopt;
  const auto* header = reinterpret_cast<const nlmsghdr*>(answer.data());
  if (!NLMSG_OK(header, static_cast<std::size_t>(received)) || header->nlmsg_type != SOCK_DIAG_BY_FAMILY ||
      header->nlmsg_seq != sequence_ || header->nlmsg_len < NLMSG_LENGTH(sizeof(inet_diag_msg)))
    return std::nullopt;
  const auto* found = static_cast<const inet_diag_msg*>(NLMSG_DATA(header));
  // If there is no such connection, the kernel reports the socket that listens at the port instead.
  constexpr std::uint8_t kEstablished = 1;
  const bool same = found->idiag_state == kEstablished &&
                    found->id.idiag_sport == request.body.id.idiag_sport &&
                    found->id.idiag_dport == request.body.id.idiag_dport;
  return same ? std::optional<uid_t>(found->idiag_uid) : std::nullopt;
}

}  // namespace clique::protocol
