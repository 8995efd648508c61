#pragma once

#include <string>

#include "protocol/aggregate.hpp"
#include "protocol/encryption.hpp"
#include "protocol/payload.hpp"

namespace clique::protocol {

/// The ciphers of streams that a worker knows beside those that seal whole records
/// (protocol/streams/keys.hpp).
struct KnownCiphers {
  bool headers = false;  ///< those that authenticate headers alone
  bool pieces = false;   ///< those that seal headers, and the pieces of payloads, by themselves
  bool operator==(const KnownCiphers&) const = default;
  CLIQUE_FIELDS(KnownCiphers, headers, pieces)
};

/// The credential for a worker's sockets in one role: that of the session's client, or that of another worker
/// of the session. Only processes that received it from the worker's node or from the client have it.
struct Pass {
  /// The worker's public key in Z85 (ZeroMQ RFC 32), for CURVE (RFC 26), which encrypts. Empty: PLAIN (RFC
  /// 24), which does not.
  std::string worker;
  /// The role's secret key in Z85 for CURVE, or its password. Empty, as in tests: no authentication.
  std::string secret;
  /// The secret from which the keys of streams are derived (protocol/streams/keys.hpp); 32 random bytes.
  Bytes stream_key = {};
  /// Although the worker encrypts, the parts of large transfers travel through streams as they are.
  bool clear_parts = false;
  /// The worker knows the ciphers that protect headers alone, for those parts. False: it is of version 27 or
  /// before.
  bool sealed_headers = false;
  /// The worker knows the ciphers that seal the pieces of parts. False: it is of version 28 or before.
  bool sealed_pieces = false;

  /// What is encrypted of the traffic that the pass admits to.
  Encryption encryption() const {
    if (worker.empty()) return Encryption::None;
    return clear_parts ? Encryption::Commands : Encryption::All;
  }
  KnownCiphers known_ciphers() const { return {sealed_headers, sealed_pieces}; }
  CLIQUE_FIELDS(Pass, worker, secret, stream_key, clear_parts, sealed_headers, sealed_pieces)
};

}  // namespace clique::protocol
