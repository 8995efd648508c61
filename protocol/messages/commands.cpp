#include "protocol/messages/commands.hpp"

#include "protocol/message_codec.hpp"

namespace clique::protocol {

CLIQUE_MESSAGE_CODEC(RunKernel);
CLIQUE_MESSAGE_CODEC(ReadBuffer);
CLIQUE_MESSAGE_CODEC(WriteBuffer);
CLIQUE_MESSAGE_CODEC(ReadBufferRect);
CLIQUE_MESSAGE_CODEC(WriteBufferRect);
CLIQUE_MESSAGE_CODEC(CopyBuffer);
CLIQUE_MESSAGE_CODEC(CopyBufferRect);
CLIQUE_MESSAGE_CODEC(FillBuffer);
CLIQUE_MESSAGE_CODEC(ReadImage);
CLIQUE_MESSAGE_CODEC(WriteImage);
CLIQUE_MESSAGE_CODEC(CopyImage);
CLIQUE_MESSAGE_CODEC(CopyImageToBuffer);
CLIQUE_MESSAGE_CODEC(CopyBufferToImage);
CLIQUE_MESSAGE_CODEC(FillImage);
CLIQUE_MESSAGE_CODEC(Data);
CLIQUE_MESSAGE_CODEC(Marker);
CLIQUE_MESSAGE_CODEC(Barrier);
CLIQUE_MESSAGE_CODEC(DefineRecording);
CLIQUE_MESSAGE_CODEC(UpdateRecording);
CLIQUE_MESSAGE_CODEC(RunRecording);

}  // namespace clique::protocol
