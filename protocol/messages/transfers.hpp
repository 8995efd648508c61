// Data beside the commands: transfers between workers and the client, and memory that two processes share.
#pragma once

#include <cstdint>

#include "protocol/messages/commands.hpp"

namespace clique::protocol {

/// Sends the content of [offset, offset+size) of a buffer, or of a whole image (offset 0, size its bytes
/// without gaps), to `peer`, which has been told to Expect `transfer`; the client itself knows what it has
/// asked for. Ordered by `command.waits` alone: `command.queue` only says where it runs, and is an
/// out-of-order queue where the device has them.
struct Push {
  Command command;
  ObjectId object = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  PeerId peer = 0;
  CommandId transfer = 0;  ///< id of the Expect command
  std::uint64_t at = 0;    ///< where in the transfer the range begins
  /// A buffer whose first 8 bytes, once the waits have ended, say how many bytes of the object mean anything,
  /// so that the rest need not be sent; 0: all do.
  ObjectId content_size = 0;
  CLIQUE_MESSAGE(Push, command, object, offset, size, peer, transfer, at, content_size)
};

/// Receives what another worker pushes, or the client sends, with transfer = command.id; ends when all of it
/// is in place. Incoming data is written after `command.waits`.
struct Expect {
  Command command;
  ObjectId object = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  CLIQUE_MESSAGE(Expect, command, object, offset, size)
};

/// Part of a transfer: pushed to another worker or to the client, or sent by the client. A negative `status`
/// means that the push failed, and carries no data. No data otherwise means that the transfer ends at
/// `offset`, and what was expected behind that does not come.
struct PeerData {
  CommandId transfer = 0;
  std::uint64_t offset = 0;  ///< relative to the transfer's begin
  std::int32_t status = 0;
  Payload data;
  CLIQUE_MESSAGE(PeerData, transfer, offset, status, data)
};

/// Of what the client sends of a transfer, `bytes` more are where they belong (or were dropped, since it
/// failed): the client may send as many.
struct Taken {
  CommandId transfer = 0;
  std::uint64_t bytes = 0;
  CLIQUE_MESSAGE(Taken, transfer, bytes)
};

/// A read to memory that the client shares with the worker (protocol/README.md): it has no other notice of
/// the data than the command's end.
struct ReadToSegment {
  Command command;
  ObjectId buffer = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  ObjectId segment = 0;
  std::uint64_t at = 0;  ///< in the segment
  CLIQUE_MESSAGE(ReadToSegment, command, buffer, offset, size, segment, at)
};

/// The data stays in the segment until the command has ended.
struct WriteFromSegment {
  Command command;
  ObjectId buffer = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  ObjectId segment = 0;
  std::uint64_t at = 0;  ///< in the segment
  CLIQUE_MESSAGE(WriteFromSegment, command, buffer, offset, size, segment, at)
};

/// The client does not use the segment any more.
struct FreeSegment {
  ObjectId segment = 0;
  CLIQUE_MESSAGE(FreeSegment, segment)
};

/// Device memory of the sender's, in which parts of transfers will lie for the receiver to copy them from
/// there. Through memory that both share. Giving `consent` back, the receiver says that it has opened it;
/// where it cannot it keeps it.
struct OpenWindow {
  WindowId window = 0;
  Bytes handle;     ///< CUDA's, for other processes of the host
  Payload consent;  ///< means nothing, but is more than kInlinePayload bytes, so that it is lent
  CLIQUE_MESSAGE(OpenWindow, window, handle, consent)
};

/// Part of a transfer that lies in a window which the receiver has opened. It stays there until the receiver
/// gives `hold` back.
struct WindowData {
  CommandId transfer = 0;
  std::uint64_t offset = 0;  ///< relative to the transfer's begin
  WindowId window = 0;
  std::uint64_t at = 0;
  std::uint64_t size = 0;
  Payload hold;  ///< as OpenWindow::consent
  CLIQUE_MESSAGE(WindowData, transfer, offset, window, at, size, hold)
};

}  // namespace clique::protocol
