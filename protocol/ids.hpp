// The numbers by which messages name things.
#pragma once

#include <cstdint>

namespace clique::protocol {

/// Names an object of a session (context, queue, buffer, program, kernel, ...). Chosen by the client, never
/// reused within a session, never 0.
using ObjectId = std::uint64_t;

/// Names a command and its event. Chosen by the client, unique over all of its sessions, never 0.
using CommandId = std::uint64_t;

/// Pairs a request with its reply. Chosen by the client, unique within a session.
using RequestId = std::uint64_t;

/// Names a device of a worker: its index in Attached::devices, or, for a sub-device, an id of at least
/// kFirstSubDevice that the client chose in CreateSubDevices.
using DeviceId = std::uint64_t;
inline constexpr DeviceId kFirstSubDevice = 1ULL << 32U;

/// Names a worker's window, GPU memory that other workers read. Chosen at random.
using WindowId = std::uint64_t;

/// Names another worker of the same client. Introduced by ConnectPeer.
using PeerId = std::uint32_t;
/// Stands for the client as the receiver of a Push.
inline constexpr PeerId kClientPeer = 0xffff'ffff;
/// Stands for the worker itself as the receiver of a Push or ReadFile.
inline constexpr PeerId kOwnPeer = 0xffff'fffe;

/// Names a line of a session: a resumable channel between two processes over successive connections. Chosen
/// by the side that connects.
using LineId = std::uint64_t;
/// The line of the client's messages and the worker's reports. Over ZeroMQ, the reports have their own.
inline constexpr LineId kCommandsLine = 0;
inline constexpr LineId kReportsLine = 1;
/// The first of a client's further lines, which carry bulk data.
inline constexpr LineId kFirstBulkLine = 2;

}  // namespace clique::protocol
