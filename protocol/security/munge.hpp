#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/security/public_key.hpp"

namespace clique::protocol {

/// MUNGE: credentials by which the hosts of a site, which share a secret key, tell each other to which user a
/// process belongs. libmunge is opened at run time, because few hosts have it. Copies share it. Thread-safe.
class Munge {
 public:
  /// TlsChannel::binding(): a credential is for one connection only.
  using Binding = std::array<std::uint8_t, 32>;

  /// @param socket of munged; empty: munged's own default
  /// Throws SecurityError if there is no libmunge.
  explicit Munge(std::string socket);

  /// A credential of the user of this process. Asks munged, which may take some seconds if that does not
  /// answer. Throws SecurityError.
  std::string encode(const Binding& binding) const;
  /// The user of the process that has made the credential for this connection. Asks munged, too. Throws
  /// SecurityError, also if the credential is for another connection, too old, or has been decoded before.
  uid_t decode(const std::string& credential, const Binding& binding) const;

 private:
  struct Library;
  std::shared_ptr<const Library> library_;
  std::string socket_;
};

/// What a setting `auth` says about MUNGE: "munge", or "munge:SOCKET" for a munged with another socket than
/// the default. @returns the socket, or nothing if the text is something else
std::optional<std::string> munge_socket(std::string_view text);

}  // namespace clique::protocol
