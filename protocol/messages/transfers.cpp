#include "protocol/messages/transfers.hpp"

#include "protocol/message_codec.hpp"

namespace clique::protocol {

CLIQUE_MESSAGE_CODEC(Push);
CLIQUE_MESSAGE_CODEC(Expect);
CLIQUE_MESSAGE_CODEC(PeerData);
CLIQUE_MESSAGE_CODEC(Taken);
CLIQUE_MESSAGE_CODEC(ReadToSegment);
CLIQUE_MESSAGE_CODEC(WriteFromSegment);
CLIQUE_MESSAGE_CODEC(FreeSegment);
CLIQUE_MESSAGE_CODEC(PlaceSegment);
CLIQUE_MESSAGE_CODEC(SegmentFreed);
CLIQUE_MESSAGE_CODEC(OpenWindow);
CLIQUE_MESSAGE_CODEC(WindowData);

}  // namespace clique::protocol
