#include "protocol/messages/objects.hpp"

#include "protocol/message_codec.hpp"

namespace clique::protocol {

CLIQUE_MESSAGE_CODEC(CreateContext);
CLIQUE_MESSAGE_CODEC(CreateSubDevices);
CLIQUE_MESSAGE_CODEC(SubDevicesCreated);
CLIQUE_MESSAGE_CODEC(CreateQueue);
CLIQUE_MESSAGE_CODEC(CreateBuffer);
CLIQUE_MESSAGE_CODEC(CreateSubBuffer);
CLIQUE_MESSAGE_CODEC(TrimBuffer);
CLIQUE_MESSAGE_CODEC(CreateImage);
CLIQUE_MESSAGE_CODEC(CreateSampler);
CLIQUE_MESSAGE_CODEC(Release);
CLIQUE_MESSAGE_CODEC(Failed);

}  // namespace clique::protocol
