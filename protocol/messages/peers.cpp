#include "protocol/messages/peers.hpp"

#include "protocol/message_codec.hpp"

namespace clique::protocol {

CLIQUE_MESSAGE_CODEC(ConnectPeer);
CLIQUE_MESSAGE_CODEC(PeerSilent);
CLIQUE_MESSAGE_CODEC(PeerLost);

}  // namespace clique::protocol
