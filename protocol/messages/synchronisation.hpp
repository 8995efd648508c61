// Completion of commands: waiting for it, and reporting it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "protocol/messages/message.hpp"

namespace clique::protocol {

/// Answered by Finished when every command that entered `queue` before has completed or failed.
struct Finish {
  RequestId request = 0;
  ObjectId queue = 0;
  CLIQUE_MESSAGE(Finish, request, queue)
};

struct Finished {
  RequestId request = 0;
  std::int32_t status =
      0;  ///< of the first command without an event that failed since the last Finish, or of the queue
  CLIQUE_MESSAGE(Finished, request, status)
};

/// Worker to client: a command's state. `times` are CL_PROFILING_COMMAND_QUEUED, SUBMIT, START and END on the
/// node's clock; 0: unknown.
struct EventState {
  CommandId command = 0;
  std::int32_t status = 0;  ///< CL_SUBMITTED, CL_RUNNING, CL_COMPLETE or negative
  std::array<std::uint64_t, 4> times{};
  CLIQUE_MESSAGE(EventState, command, status, times)
};

/// The client also wants EventState when `command` becomes CL_RUNNING, because the program asks for its
/// state.
struct WatchEvent {
  CommandId command = 0;
  CLIQUE_MESSAGE(WatchEvent, command)
};

/// `command` is a remote event: a command of another worker, or a user event. PeerDone or SetRemote will
/// report its completion.
struct AwaitRemote {
  CommandId command = 0;
  ObjectId context = 0;
  CLIQUE_MESSAGE(AwaitRemote, command, context)
};

/// Client to worker: a remote event has completed or failed. Also fails an Expect whose pushing worker is
/// lost.
struct SetRemote {
  CommandId command = 0;
  std::int32_t status = 0;  ///< CL_COMPLETE or a negative status
  CLIQUE_MESSAGE(SetRemote, command, status)
};

/// When `command` (of this worker, kEvent) completes or fails, PeerDone is to be sent to `peer`.
struct NotifyPeer {
  CommandId command = 0;
  PeerId peer = 0;
  CLIQUE_MESSAGE(NotifyPeer, command, peer)
};

/// Worker to worker: a command of the sender has completed or failed.
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
  std::int64_t clock = 0;  ///< the node's clock, ns
  CLIQUE_MESSAGE(ClockSynced, request, clock)
};

/// Text that kernels printed. Sent before the EventState or Finished of the command that printed it.
struct Print {
  Bytes text;
  /// Commands of other workers whose completion was reported to this worker before: their text comes first.
  std::vector<CommandId> after;
  CLIQUE_MESSAGE(Print, text, after)
};

}  // namespace clique::protocol
