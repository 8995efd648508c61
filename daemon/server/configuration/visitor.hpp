#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "protocol/security/public_key.hpp"

namespace clique::daemon {

/// The other end of a connection, as far as it has identified itself.
struct Visitor {
  std::string address;                     ///< ADDRESS:PORT; of a virtual machine vsock:CID:PORT
  std::optional<uid_t> user;               ///< of the process, if it is on this host
  protocol::PublicKey key;                 ///< it has proven that it has the private key
  std::array<std::uint8_t, 32> binding{};  ///< TlsChannel::binding()
  std::optional<uid_t> munge_user = {};    ///< whose credential it has shown
  std::string munge_failure = {};          ///< why the credential is not valid; empty: none was checked
};

}  // namespace clique::daemon
