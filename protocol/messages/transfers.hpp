// Transfers of data beside the commands: between workers, and between a worker and the client.
#pragma once

#include <cstdint>

#include "protocol/messages/commands.hpp"

namespace clique::protocol {

/// Sends the bytes [offset, offset + size) of an object to `peer`; of an image, whole pixels of its content
/// without gaps. A worker has been told to Expect `transfer`; the client knows what it has asked for.
/// Ordered by `command.waits` alone: `command.queue` only says where the command runs, and is an out-of-order
/// queue if the device has them.
struct Push {
  Command command;
  ObjectId object = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  PeerId peer = 0;
  CommandId transfer = 0;  ///< id of the Expect command
  std::uint64_t at = 0;    ///< offset of the range in the transfer
  /// A buffer whose first 8 bytes, when the waits have completed, are the number of bytes of the object that
  /// have content; the rest need not be sent. 0: all bytes have content.
  ObjectId content_size = 0;
  CLIQUE_MESSAGE(Push, command, object, offset, size, peer, transfer, at, content_size)
};

/// Receives the transfer `command.id`, which another worker pushes or the client sends. Completes when all of
/// its data is in place. Data is written to the object after `command.waits`.
struct Expect {
  Command command;
  ObjectId object = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  CLIQUE_MESSAGE(Expect, command, object, offset, size)
};

/// Part of a transfer: pushed to another worker or to the client, or sent by the client. If `status` is
/// negative, the push failed and there is no data. If it is 0 and there is no data, the transfer ends at
/// `offset`, and nothing that was expected beyond arrives.
struct PeerData {
  CommandId transfer = 0;
  std::uint64_t offset = 0;  ///< in the transfer
  std::int32_t status = 0;
  Payload data;
  CLIQUE_MESSAGE(PeerData, transfer, offset, status, data)
};

/// Worker to client: `bytes` more of a transfer that the client sends are in place, or were dropped because
/// the transfer failed. The client may send as many more.
struct Taken {
  CommandId transfer = 0;
  std::uint64_t bytes = 0;
  CLIQUE_MESSAGE(Taken, transfer, bytes)
};

/// A read into memory that the client shares with the worker (protocol/README.md). The command's completion
/// is the only notice of the data.
struct ReadToSegment {
  Command command;
  ObjectId buffer = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  ObjectId segment = 0;
  std::uint64_t at = 0;  ///< in the segment
  CLIQUE_MESSAGE(ReadToSegment, command, buffer, offset, size, segment, at)
};

/// The data stays in the segment until the command has completed or failed.
struct WriteFromSegment {
  Command command;
  ObjectId buffer = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  ObjectId segment = 0;
  std::uint64_t at = 0;  ///< in the segment
  CLIQUE_MESSAGE(WriteFromSegment, command, buffer, offset, size, segment, at)
};

/// Client to worker: the client does not use the segment any more.
struct FreeSegment {
  ObjectId segment = 0;
  CLIQUE_MESSAGE(FreeSegment, segment)
};

/// Client to worker: a range of the memory that a virtual machine's session has for segments
/// (WorkerAddress::segments_at) is a segment from now on. Segments may overlap.
struct PlaceSegment {
  ObjectId segment = 0;
  std::uint64_t at = 0;  ///< in that memory
  std::uint64_t size = 0;
  CLIQUE_MESSAGE(PlaceSegment, segment, at, size)
};

/// Worker to client: the client has freed a segment that it had placed, and no command uses it any more. The
/// client can place others there.
struct SegmentFreed {
  ObjectId segment = 0;
  CLIQUE_MESSAGE(SegmentFreed, segment)
};

/// Worker to worker: a window, device memory of the sender from which the receiver will copy parts of
/// transfers. Sent through memory that both share. The receiver gives `consent` back when it has opened the
/// window; if it cannot open it, it keeps `consent`.
struct OpenWindow {
  WindowId window = 0;
  Bytes handle;     ///< CUDA's handle for other processes of the host
  Payload consent;  ///< its bytes mean nothing, but are more than kInlinePayload, so that they are lent
  CLIQUE_MESSAGE(OpenWindow, window, handle, consent)
};

/// Worker to worker: part of a transfer is in a window that the receiver has opened. It stays there until the
/// receiver gives `hold` back.
struct WindowData {
  CommandId transfer = 0;
  std::uint64_t offset = 0;  ///< in the transfer
  WindowId window = 0;
  std::uint64_t at = 0;  ///< in the window
  std::uint64_t size = 0;
  Payload hold;  ///< as OpenWindow::consent
  CLIQUE_MESSAGE(WindowData, transfer, offset, window, at, size, hold)
};

}  // namespace clique::protocol
