#include "protocol/messages/session.hpp"

#include "protocol/message_codec.hpp"

namespace clique::protocol {

CLIQUE_MESSAGE_CODEC(Hello);
CLIQUE_MESSAGE_CODEC(Choice);
CLIQUE_MESSAGE_CODEC(Loads);
CLIQUE_MESSAGE_CODEC(Welcome);
CLIQUE_MESSAGE_CODEC(Refused);
CLIQUE_MESSAGE_CODEC(Starting);
CLIQUE_MESSAGE_CODEC(Offer);
CLIQUE_MESSAGE_CODEC(Attach);
CLIQUE_MESSAGE_CODEC(AttachLine);
CLIQUE_MESSAGE_CODEC(Received);
CLIQUE_MESSAGE_CODEC(Attached);
CLIQUE_MESSAGE_CODEC(Goodbye);
CLIQUE_MESSAGE_CODEC(SessionEnded);

}  // namespace clique::protocol
