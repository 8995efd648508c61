// Links between workers.
#pragma once

#include <cstdint>
#include <string>

#include "protocol/messages/message.hpp"

namespace clique::protocol {

/// Where to reach another worker of the same client.
struct ConnectPeer {
  PeerId peer = 0;
  std::string endpoint;  ///< ZeroMQ endpoint of the peer's `peers` socket
  std::string token;
  std::string shared;  ///< WorkerAddress::shared; empty: not to be used
  CLIQUE_MESSAGE(ConnectPeer, peer, endpoint, token, shared)
};

/// The worker cannot reach another one any more, which may wait for what it sends.
struct PeerLost {
  PeerId peer = 0;
  CLIQUE_MESSAGE(PeerLost, peer)
};

}  // namespace clique::protocol
