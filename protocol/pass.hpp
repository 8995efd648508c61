#pragma once

#include <string>

#include "protocol/aggregate.hpp"

namespace clique::protocol {

/// The credential for a worker's sockets in one role: that of the session's client, or that of another worker
/// of the session. Only processes that received it from the worker's node or from the client have it.
struct Pass {
  /// The worker's public key in Z85 (ZeroMQ RFC 32), for CURVE (RFC 26), which encrypts. Empty: PLAIN (RFC
  /// 24), which does not.
  std::string worker;
  /// The role's secret key in Z85 for CURVE, or its password. Empty, as in tests: no authentication.
  std::string secret;
  CLIQUE_FIELDS(Pass, worker, secret)
};

}  // namespace clique::protocol
