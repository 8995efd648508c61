// All messages of Clique, and which of them each socket accepts. protocol/README.md describes how they
// travel.
#pragma once

#include "protocol/messages/commands.hpp"
#include "protocol/messages/devices.hpp"
#include "protocol/messages/objects.hpp"
#include "protocol/messages/peers.hpp"
#include "protocol/messages/programs.hpp"
#include "protocol/messages/session.hpp"
#include "protocol/messages/synchronisation.hpp"
#include "protocol/messages/transfers.hpp"

namespace clique::protocol {

template <typename... M>
struct MessageList {};

/// What a worker takes on its commands socket, after Attach.
using ClientMessages =
    MessageList<CreateContext, CreateSubDevices, CreateQueue, CreateBuffer, CreateSubBuffer, CreateImage,
                CreateSampler, CreateProgram, BuildProgram, CompileProgram, LinkProgram, CreateKernel,
                Release, GetProgramBinary, QueryWorkGroup, RunKernel, ReadBuffer, WriteBuffer, ReadToSegment,
                WriteFromSegment, ReadBufferRect, WriteBufferRect, CopyBuffer, CopyBufferRect, FillBuffer,
                ReadImage, WriteImage, CopyImage, CopyImageToBuffer, CopyBufferToImage, FillImage, Marker,
                Barrier, Push, Expect, DefineRecording, RunRecording, Finish, AwaitRemote, SetRemote,
                NotifyPeer, ConnectPeer, SyncClock, WatchEvent, PeerData, FreeSegment, Goodbye>;
/// What a recording consists of: commands that wait for nobody else, and whose data is on the worker.
using RecordedMessages = MessageList<RunKernel, CopyBuffer, CopyBufferRect, FillBuffer, CopyImage,
                                     CopyImageToBuffer, CopyBufferToImage, FillImage>;
/// What a client takes on its reports socket.
using WorkerMessages =
    MessageList<Attached, SubDevicesCreated, ProgramBuilt, ProgramBinary, WorkGroupAnswer, Data, EventState,
                Finished, ClockSynced, Print, Failed, SessionEnded, Taken, PeerLost, PeerData>;
/// What a worker takes on its peers socket.
using PeerMessages = MessageList<PeerData, PeerDone, OpenWindow, WindowData>;
/// What a worker or a client takes on a connection for bulk.
using BulkMessages = MessageList<PeerData>;
/// What the two ends of a line tell each other.
using LineMessages = MessageList<Received, SessionEnded>;
/// What opens a session: the daemon's socket, and a worker's sockets before they are attached.
using HandshakeMessages = MessageList<Hello, Welcome, Offer, Refused, Starting, Attach, AttachLine>;

}  // namespace clique::protocol
