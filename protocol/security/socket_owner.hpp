#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "protocol/fd.hpp"

namespace clique::protocol {

/// Asks the kernel whose processes have sockets, so often that it keeps the descriptor for that: a process
/// that has no other left can still tell who its guests are. One thread at a time.
class SocketOwners {
 public:
  SocketOwners();
  /// As owner_of_other_end().
  std::optional<uid_t> of_other_end(int socket);

 private:
  Fd netlink_;
  std::uint32_t sequence_ = 0;
};

/// The user whose process has the other end of a TCP connection within this host, as the kernel knows it
/// (sock_diag(7)). Nothing if the other end is on another host or in another network namespace.
/// @param socket a connected TCP socket
std::optional<uid_t> owner_of_other_end(int socket);

}  // namespace clique::protocol
