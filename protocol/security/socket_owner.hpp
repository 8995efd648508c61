#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "protocol/fd.hpp"

namespace clique::protocol {

/// Asks the kernel which users own sockets. Keeps a descriptor for that, so that it works even if the process
/// has run out of descriptors. One thread at a time.
class SocketOwners {
 public:
  SocketOwners();
  /// As owner_of_other_end().
  std::optional<uid_t> of_other_end(int socket);

 private:
  Fd netlink_;
  std::uint32_t sequence_ = 0;
};

/// The user who owns the other end of a TCP connection within this host, according to the kernel
/// (sock_diag(7)). Nothing if the other end is on another host or in another network namespace.
/// @param socket a connected TCP socket
std::optional<uid_t> owner_of_other_end(int socket);

}  // namespace clique::protocol
