// All messages of Clique, and which of them each socket accepts. protocol/README.md describes how they
// travel.
#pragma once

#include "protocol/messages/commands.hpp"
#include "protocol/messages/files.hpp"
#include "protocol/messages/objects.hpp"
#include "protocol/messages/peers.hpp"
#include "protocol/messages/programs.hpp"
#include "protocol/messages/session.hpp"
#include "protocol/messages/status.hpp"
#include "protocol/messages/synchronisation.hpp"
#include "protocol/messages/transfers.hpp"

namespace clique::protocol {

/// Accepted by a worker from its client.
using ClientMessages =
    MessageList<CreateContext, CreateSubDevices, CreateQueue, CreateBuffer, CreateSubBuffer, TrimBuffer,
                CreateImage, CreateSampler, CreateFile, QueryFile, CreateProgram, ProgramFiles, BuildProgram,
                CompileProgram, LinkProgram, AnalyseProgram, CreateKernel, Release, GetProgramBinary,
                QueryWorkGroup, RunKernel, ReadBuffer, WriteBuffer, ReadToSegment, WriteFromSegment,
                ReadBufferRect, WriteBufferRect, CopyBuffer, CopyBufferRect, FillBuffer, ReadImage,
                WriteImage, CopyImage, CopyImageToBuffer, CopyBufferToImage, FillImage, Marker, Barrier, Push,
                Expect, ReadFile, WriteFile, DefineRecording, UpdateRecording, RunRecording, Finish,
                AwaitRemote, SetRemote, NotifyPeer, ConnectPeer, SyncClock, WatchEvent, PeerData, FreeSegment,
                PlaceSegment, Goodbye>;
/// The messages of a recording: commands that wait for no other process and whose data is on the worker.
using RecordedMessages = MessageList<RunKernel, CopyBuffer, CopyBufferRect, FillBuffer, CopyImage,
                                     CopyImageToBuffer, CopyBufferToImage, FillImage>;
/// Accepted by a client from a worker.
using WorkerMessages =
    MessageList<Attached, SubDevicesCreated, ProgramBuilt, ProgramAnalysed, ProgramBinary, WorkGroupAnswer,
                FileAnswer, Data, EventState, Finished, ClockSynced, Print, Failed, SessionEnded, Taken,
                PeerSilent, PeerLost, PeerData, SegmentFreed>;
/// Accepted by a worker from the session's other workers.
using PeerMessages = MessageList<PeerData, PeerDone, OpenWindow, WindowData>;
/// Accepted by a worker or a client on a connection for bulk data.
using BulkMessages = MessageList<PeerData>;
/// Sent by the ends of a line to each other, besides the batches that the line carries.
using LineMessages = MessageList<Received, SessionEnded>;
/// Messages on the daemon's socket, and on a worker's sockets before they are attached.
using HandshakeMessages = MessageList<Hello, Welcome, Offer, Refused, Starting, Status, Steer, Steered,
                                      Choice, Loads, Reach, Reached, Attach, AttachLine>;

}  // namespace clique::protocol
