// Links between workers.
#pragma once

#include <cstdint>
#include <string>

#include "protocol/messages/message.hpp"
#include "protocol/pass.hpp"

namespace clique::protocol {

/// Client to worker: how to reach another worker of the same client.
struct ConnectPeer {
  PeerId peer = 0;
  std::string endpoint;  ///< of the peer's `peers` socket: tcp://HOST:PORT
  Pass pass;             ///< WorkerAddress::peer
  std::string shared;    ///< WorkerAddress::shared; empty: do not use shared memory
  /// For large transfers: the daemon of the peer's node, tcp://HOST:PORT, and WorkerAddress::streams. Empty:
  /// all messages go through `endpoint`.
  std::string daemon = {};
  Bytes streams = {};
  bool ucx = false;  ///< large transfers go through UCX. Both workers can use it
  CLIQUE_MESSAGE(ConnectPeer, peer, endpoint, pass, shared, daemon, streams, ucx)
};

/// Worker to client: the worker cannot reach another one any more, which may be waiting for its data.
struct PeerLost {
  PeerId peer = 0;
  CLIQUE_MESSAGE(PeerLost, peer)
};

}  // namespace clique::protocol
