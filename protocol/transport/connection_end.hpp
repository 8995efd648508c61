#pragma once

#include <cstdint>

namespace clique::protocol {

/// How a connection ended.
enum class ConnectionEnd : std::uint8_t {
  None,       ///< it has not ended
  Failed,     ///< it was never established
  Refused,    ///< nobody listens at the port
  Handshake,  ///< the other side does not speak the protocol, or rejected us
  Closed,     ///< closed by the other side, or given up because it was silent
  Gone,       ///< the node says that the worker has exited
};

}  // namespace clique::protocol
