#include "protocol/messages/status.hpp"

#include "protocol/message_codec.hpp"

namespace clique::protocol {

CLIQUE_MESSAGE_CODEC(Status);
CLIQUE_MESSAGE_CODEC(Steer);
CLIQUE_MESSAGE_CODEC(Steered);
CLIQUE_MESSAGE_CODEC(Reach);
CLIQUE_MESSAGE_CODEC(Reached);

}  // namespace clique::protocol
