// Batches over ZeroMQ sockets. A ZeroMQ message is: [routing id, on ROUTER sockets] records, payload frames.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>
#include <zmq.hpp>

#include "protocol/batch.hpp"
#include "protocol/decode_error.hpp"
#include "protocol/transport/incoming.hpp"

namespace clique::protocol {

/// A dead connection is noticed within the sum of these: every socket sends ZMTP heartbeats, which the other
/// host must acknowledge and the other process must answer in time.
inline constexpr int kHeartbeatIntervalMs = 1000;
inline constexpr int kHeartbeatTimeoutMs = 4000;

/// Sets the options of a Clique socket: no lingering, no dropping at a high-water mark, heartbeats, bounded
/// messages. To be called before bind or connect.
void configure(zmq::socket_ref socket);

/// For sockets that receive payloads: over a slow link, a payload may take longer than a heartbeat's answer
/// is allowed to, and the answer comes after it. So the other host's acknowledgement is sufficient for some
/// time, but not for ever: where bytes are missing, the rest of a frame may never arrive.
void expect_payloads(zmq::socket_ref socket);

/// A link with a round trip longer than this deserves several connections, whatever the number of processors,
/// because the system limits what is in flight on each.
inline constexpr std::chrono::microseconds kLongWay{500};

/// Number of connections over which this process spreads large transfers, for each direction.
unsigned bulk_connections(bool long_way);

/// Whether large transfers should get another connection. On a low-latency link, connections are made one
/// after the other, because ZeroMQ assigns each to the thread with the fewest and counts only established
/// ones.
/// @param present number of connections that exist
/// @param answered whether the last of them is known to be established
bool worth_another_connection(std::size_t present, bool answered, bool long_way);

/// Number of ZeroMQ's I/O threads in this process: one for each bulk connection, and some more, so that
/// commands and reports, whose connections are made first, mostly have other threads than bulk data.
int io_threads();

/// Makes the C library keep freed memory for received payloads, which ZeroMQ allocates one by one. Otherwise
/// freed memory returns to the system at once, and the next payload costs a page fault for every 4 KiB. It
/// has no effect if the application has set what is kept (mallopt), and keeps at most about 32 MiB.
/// Thread-safe; one call is enough.
void keep_payload_memory();

/// A batch as ZeroMQ's frames: records, then payloads, which are not copied.
using Frames = std::vector<zmq::message_t>;

/// Sends the batch as one message and clears it. Payloads are sent without copying: a thread of ZeroMQ
/// releases their owner when the bytes are sent.
/// @param routing_id of the receiver, on ROUTER sockets; empty on others.
/// @returns false if the receiver is gone (ROUTER sockets with ZMQ_ROUTER_MANDATORY).
/// Throws zmq::error_t.
bool send(zmq::socket_ref socket, Batch& batch, std::string_view routing_id = {});
/// The same in two steps, of which the first clears the batch.
Frames frames_of(Batch& batch);
bool send(zmq::socket_ref socket, Frames frames, std::string_view routing_id = {});

/// Receives one message without waiting. Of a message with more frames than BatchReader accepts
/// (Limits::kFrames, kFrameBytes), those beyond are dropped, but so few that it is refused.
/// @returns false if there is none.
/// Throws zmq::error_t, and DecodeError for a message without records.
bool receive(zmq::socket_ref socket, Incoming& incoming);

/// The file descriptor of the connection that a message arrived on, as socket monitors name it; -1: unknown.
int connection_of(const Incoming& incoming);

}  // namespace clique::protocol
