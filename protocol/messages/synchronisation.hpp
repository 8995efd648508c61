// Completion of commands, and what the client sees of it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "protocol/messages/message.hpp"

namespace clique::protocol {

/// Answered by Finished when everything that entered `queue` before has ended.
struct Finish {
  RequestId request = 0;
  ObjectId queue = 0;
  CLIQUE_MESSAGE(Finish, request, queue)
};

struct Finished {
  RequestId request = 0;
  std::int32_t status =
      0;  ///< first failure of a command without an event since the last Finish, or of the queue
  CLIQUE_MESSAGE(Finished, request, status)
};

/// A command's state. `times` are CL_PROFILING_COMMAND_QUEUED, SUBMIT, START, END on the node's clock, 0
/// where unknown.
struct EventState {
  CommandId command = 0;
  std::int32_t status = 0;  ///< CL_SUBMITTED, CL_RUNNING, CL_COMPLETE or negative
  std::array<std::uint64_t, 4> times{};
  CLIQUE_MESSAGE(EventState, command, status, times)
};

/// EventState is wanted also when `command` becomes CL_RUNNING, because somebody looks.
struct WatchEvent {
  CommandId command = 0;
  CLIQUE_MESSAGE(WatchEvent, command)
};

/// `command` runs elsewhere (another worker, or it is a user event); its end will be told by PeerDone or
/// SetRemote.
struct AwaitRemote {
  CommandId command = 0;
  ObjectId context = 0;
  CLIQUE_MESSAGE(AwaitRemote, command, context)
};

/// The client tells how a command of elsewhere ended. Also fails an Expect whose pushing worker is lost.
struct SetRemote {
  CommandId command = 0;
  std::int32_t status = 0;  ///< CL_COMPLETE or a negative status
  CLIQUE_MESSAGE(SetRemote, command, status)
};

/// When `command` (of this worker, kEvent) ends, PeerDone goes to `peer`.
struct NotifyPeer {
  CommandId command = 0;
  PeerId peer = 0;
  CLIQUE_MESSAGE(NotifyPeer, command, peer)
};

struct PeerDone {
  CommandId command = 0;
  std::int32_t status = 0;
  CLIQUE_MESSAGE(PeerDone, command, status)
};

/// Answered at once by ClockSynced, so that the client can estimate the offset of the node's clock.
struct SyncClock {
  RequestId request = 0;
  CLIQUE_MESSAGE(SyncClock, request)
};

struct ClockSynced {
  RequestId request = 0;
  std::int64_t clock = 0;
  CLIQUE_MESSAGE(ClockSynced, request, clock)
};

/// What kernels printed; sent before the EventState or Finished of the command that printed it.
struct Print {
  Bytes text;
  /// Commands of other workers whose end this one was told before: what they printed comes first.
  std::vector<CommandId> after;
  CLIQUE_MESSAGE(Print, text, after)
};

}  // namespace clique::protocol
