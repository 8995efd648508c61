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
  bool ucx = false;       ///< large transfers go through UCX. Both workers can use it
  std::string node = {};  ///< the peer's node, for logs
  CLIQUE_MESSAGE(ConnectPeer, peer, endpoint, pass, shared, daemon, streams, ucx, node)
};

/// Worker to client: the worker has not reached another one for some seconds. It goes on trying.
struct PeerSilent {
  PeerId peer = 0;
  std::string reason;  ///< why, in words; may be empty
  CLIQUE_MESSAGE(PeerSilent, peer, reason)
};

/// Worker to client: the worker has given up reaching another one, which may be waiting for its data.
struct PeerLost {
  PeerId peer = 0;
  std::string reason;   ///< as in PeerSilent
  bool exited = false;  ///< the peer's daemon says that its process has exited
  CLIQUE_MESSAGE(PeerLost, peer, reason, exited)
};

}  // namespace clique::protocol
