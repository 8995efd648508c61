#include "protocol/messages/files.hpp"

#include "protocol/message_codec.hpp"

namespace clique::protocol {

CLIQUE_MESSAGE_CODEC(CreateFile);
CLIQUE_MESSAGE_CODEC(QueryFile);
CLIQUE_MESSAGE_CODEC(FileAnswer);
CLIQUE_MESSAGE_CODEC(ReadFile);
CLIQUE_MESSAGE_CODEC(WriteFile);

}  // namespace clique::protocol
