#include "protocol/messages/synchronisation.hpp"

#include "protocol/message_codec.hpp"

namespace clique::protocol {

CLIQUE_MESSAGE_CODEC(Finish);
CLIQUE_MESSAGE_CODEC(Finished);
CLIQUE_MESSAGE_CODEC(EventState);
CLIQUE_MESSAGE_CODEC(WatchEvent);
CLIQUE_MESSAGE_CODEC(AwaitRemote);
CLIQUE_MESSAGE_CODEC(SetRemote);
CLIQUE_MESSAGE_CODEC(NotifyPeer);
CLIQUE_MESSAGE_CODEC(PeerDone);
CLIQUE_MESSAGE_CODEC(SyncClock);
CLIQUE_MESSAGE_CODEC(ClockSynced);
CLIQUE_MESSAGE_CODEC(Print);

}  // namespace clique::protocol
