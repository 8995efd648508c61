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

/// MUNGE: with its credentials, hosts that share a secret key prove to each other which user a process
/// belongs to. Opens libmunge at run time, because few hosts have it. Copies share the library. Thread-safe.
class Munge {
 public:
  /// TlsChannel::binding(), which makes a credential valid for one connection only.
  using Binding = std::array<std::uint8_t, 32>;

  /// @param socket of munged; empty: munged's own default
  /// Throws SecurityError if libmunge is not installed.
  explicit Munge(std::string socket);

  /// A credential for the user of this process. Asks munged, which takes some seconds if munged does not
  /// answer. Throws SecurityError.
  std::string encode(const Binding& binding) const;
  /// The user of the process that made the credential. Asks munged, too. Throws SecurityError, also if the
  /// credential was made for another connection, is too old, or has been decoded before.
  uid_t decode(const std::string& credential, const Binding& binding) const;

 private:
  struct Library;
  std::shared_ptr<const Library> library_;
  std::string socket_;
};

/// Parses the part of a setting `auth` about MUNGE: "munge", or "munge:SOCKET".
/// @returns the socket of munged (empty: its default); nothing if the text is something else
std::optional<std::string> munge_socket(std::string_view text);

}  // namespace clique::protocol
